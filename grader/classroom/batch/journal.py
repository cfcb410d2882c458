"""``OUT/journal.jsonl``: what was graded, whose grades hold, and whether a batch came to its end.

    {"format_version": 2, "session": {…}, "path": …}       the first line: what decides every grade
    {"files": {name: checksum}, "written": …}              a file of the class that later commands read
    {"begins": […], "to_grade": […], "of": …}              a batch: who is in the class, whom it grades
    {"submission": …, "digest": …, "verdict": …, "kept": {name: checksum}}    one whose files are written
    {"submission": …, …, "replaces": true}                 one whose grade is about to be written anew
    {"class": […], "of": …}                                the batch came to its end; who is in the class

``kept`` has the checksum of the grade's record, too. While a batch replaces records, the one before counts as
well as the new one; at its end, only the new one does. A rescoring begins with a line of ``begins`` that says
``rescores``. The lines after the first have a number, so that one that is missing is noticed.

Each line has its checksum in front (`grader.model.seals`). ``path`` is that of an assignment that is not
bundled. ``of`` is the digest of the class of a shard. A
file that is replaced is ``written`` once it has that checksum and no other. Where the grader failed there is
no ``digest``, and the submission is tried again. A journal of format version 1, of grader 0.1.0 and before,
has neither checksums nor `files`, `begins` and `kept`.

The file may come from another machine. A line that is damaged, or names what no submission is called, says
nothing: `grade` does again what it said, and commands that only read the class refuse the journal.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, fields, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from grader.base.errors import UsageError
from grader.base.records import frozen
from grader.base.text import escaped, quoted
from grader.classroom.batch import places
from grader.grading.submission.items import is_id
from grader.model import Verdict
from grader.model.codec import Misfit, decode
from grader.model.seals import is_intact, sealed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

JOURNAL = "journal.jsonl"
RECORD = "record.json"
FORMAT_VERSION: Final = 2
_SHARD = re.compile(r"(?:[0-9]{1,5}/[1-9][0-9]{0,4})?")
_END = b"\n"


@frozen
class BatchSession:
    """Settings that decide every grade of a batch beside the submission; a change means no reuse."""

    assignment: str
    assignment_digest: str
    backend: str
    seed: int
    grader: str
    toolkit: str
    device: str = ""
    races: str = ""
    shard: str = ""
    """Part of the class that it is, as ``2/8``; empty where it is all of it."""


@frozen
class Vouched:
    """Known facts about a submission whose files are written.

    ``digest`` is the digest of the graded files, empty where the grader failed; ``kept`` has the checksums of
    the grade's record and of what is kept beside it, by the path in the submission's folder. ``before`` are
    the checksums of records that count, too, until the batch that replaces them comes to its end; an empty
    one stands for any record, where an older version did not write its checksum down.
    """

    digest: str
    verdict: str
    kept: Mapping[str, str]
    before: tuple[str, ...] = ()

    @property
    def record(self) -> str:
        """The checksum of the record; empty where it is unknown."""
        return self.kept.get(RECORD, "")

    def is_of(self, record: str) -> bool:
        """True if this may be the checksum of the submission's record."""
        counting = {self.record, *self.before}
        return record in counting or "" in counting

    def judged(self, verdict: str) -> Vouched:
        """The same with another verdict; what the grader failed at is not done."""
        return replace(self, digest="" if verdict == Verdict.ERROR else self.digest, verdict=verdict)


@frozen
class ClassState:
    """Students of a class, as the last batch saw it, and the grades of it that are there.

    ``names`` are none where an older version was stopped, which did not write down whom it was to grade.
    """

    names: tuple[str, ...]
    graded: tuple[str, ...]
    of: str
    has_ended: bool
    is_rescoring: bool = False
    """True if all that has not come to its end is a rescoring."""
    unknown: tuple[str, ...] = ()
    """Whose grades are in the folder though no line speaks of them: the journal lost its last lines."""

    def unfinished(self) -> str:
        """Say how much is graded where that is not, or may not be, the whole class; empty where it is."""
        clauses = []
        if self.is_rescoring:
            clauses.append("its rescoring has not come to its end")
        elif not self.has_ended:
            graded = f"{len(self.graded)} of {len(self.names)}" if self.names else f"only {len(self.graded)}"
            clauses.append(f"{graded} are graded, for its batch has not come to its end")
        if self.unknown:
            clauses.append(
                f"the grades of {quoted(self.unknown)} are not in {JOURNAL}, which was cut off or is an "
                "older copy, and are left out"
            )
        return "; ".join(clauses)

    @property
    def unfinished_command(self) -> str:
        """The command that brings the class to its end."""
        return "`grader rescore`" if self.is_rescoring else "`grader grade` with the same command"


class Journal:
    """Content of a journal, line after line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.session: BatchSession | None = None
        self.assignment_path = ""
        """The absolute path of the assignment; empty for a bundled one, and where an older version graded."""
        self.has_checksums = True
        self.vouched: dict[str, Vouched] = {}
        self.files: dict[str, set[str]] = {}
        """The checksums that files of the class may have: the last one, or that before it after a crash."""
        self.length = 0
        """The number of lines."""
        self.damaged: list[tuple[int, str]] = []
        """The numbers of the lines that are damaged, and why."""
        self._missing = 0
        self._names: tuple[str, ...] = ()
        self._graded: set[str] = set()
        self._of = ""
        self._has_ended = self._is_rescoring = False

    def state(self) -> ClassState:
        """The class as it is now; raises UsageError where a line is damaged: it may have said otherwise."""
        self.must_be_sound()
        names, graded = (tuple(sorted(ids)) for ids in (self._names, self._graded))
        return ClassState(names, graded, self._of, self._has_ended, self._is_rescoring)

    def must_be_sound(self) -> None:
        """Raise UsageError naming the first line that is damaged."""
        if self.damaged:
            number, why = self.damaged[0]
            raise UsageError(
                f"{self.path}: line {number} is damaged ({why}); run `grader grade` with the same command "
                "again, which grades again what is in doubt"
            )

    def take(self, line: str) -> None:
        """Take in the next line; what is wrong with it is kept in `damaged`."""
        self.length += 1
        number = self.length
        try:
            entry = self._entry(line, is_first=number == 1)
            if number == 1:
                self.session = _session(entry.get("session"))
                self.assignment_path = _absolute(entry.get("path", ""))
            else:
                self._take_number(entry.get("number", number + self._missing))
                self._take(entry)
        except Misfit as problem:
            self.damaged.append((number, str(problem)))

    def _entry(self, line: str, *, is_first: bool) -> dict[str, Any]:
        """The object that a line holds; raises Misfit where it is none, or has another checksum."""
        intact = is_intact(line)
        if intact is False:
            raise Misfit("its checksum is another")
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            raise Misfit("it is no JSON") from None
        if not isinstance(entry, dict):
            raise Misfit("expected an object")
        if is_first:
            self.has_checksums = "format_version" in entry or intact is not None
            if self.has_checksums and entry.get("format_version") != FORMAT_VERSION:
                raise Misfit(f"expected format version {FORMAT_VERSION}")
        if self.has_checksums and intact is None:
            raise Misfit("it has no checksum")
        return entry

    def _take_number(self, number: object) -> None:
        """Notice lines that are missing, which leaves the line behind them as good as before."""
        missing = number - self.length - self._missing if isinstance(number, int) else -1
        if missing < 0:
            raise Misfit("it has the number of another line")
        if missing:
            self._missing += missing
            self.damaged.append((self.length, "a line before it is missing"))

    def _take(self, entry: dict[str, Any]) -> None:
        if "submission" in entry:
            name = _id(entry["submission"])
            kept = _checksums(entry.get("kept", {}))
            digest, verdict = (decode(str, entry.get(key, ""), key) for key in ("digest", "verdict"))
            earlier = self.vouched.get(name) if entry.get("replaces") is True else None
            before = (*earlier.before, earlier.record) if earlier else ()
            self.vouched[name] = Vouched(digest, verdict, kept, before)
            self._graded.add(name)
            self._has_ended = False
        elif "files" in entry:
            written = entry.get("written") is True
            for name, value in _checksums(entry["files"]).items():
                self.files[name] = {value} if written else self.files.get(name, set()) | {value}
        elif "begins" in entry:
            names, to_grade = _ids(entry["begins"]), _ids(entry.get("to_grade"))
            was_whole = self._has_ended or self._is_rescoring
            self._class(names, entry, has_ended=False)
            self._is_rescoring = was_whole and entry.get("rescores") is True
            self._graded = set(names) - set(to_grade)
        elif "session" in entry:
            raise Misfit("it is a first line")
        elif "class" in entry:
            names = _ids(entry["class"])
            if not names and not (self.session and self.session.shard):
                raise Misfit("it names no submission")
            if unknown := sorted(set(names) - self.vouched.keys()):
                raise Misfit(f"no line vouches for {quoted(unknown)}, who are in the class")
            self._class(names, entry, has_ended=True)
            self._graded = set(names)
            self.vouched = {name: replace(one, before=()) for name, one in self.vouched.items()}

    def _class(self, names: tuple[str, ...], entry: dict[str, Any], *, has_ended: bool) -> None:
        self._of = decode(str, entry.get("of", ""), "of")
        self._names, self._has_ended, self._is_rescoring = names, has_ended, False

    def anew(
        self, session: BatchSession, path: str, verdicts: Mapping[str, str], *, has_ended: bool
    ) -> list[str]:
        """The lines of a journal that says the same of the class, in a session, and nothing twice.

        ``verdicts`` are the current ones of submissions whose records are as their last lines say; of others
        an earlier record may count, too. ``has_ended`` says that the last batch came to its end.
        """
        entries: list[Mapping[str, object]] = [
            keeping({name: value}, written=len(values) == 1)
            for name, values in self.files.items()
            for value in sorted(values)
        ]
        for name, vouched in self.vouched.items():
            settled = replace(vouched, before=()) if name in verdicts else vouched
            entries += _vouching_anew(name, settled.judged(verdicts.get(name, vouched.verdict)))
        if self._names:
            entries.append(beginning(self._names, sorted({*self._names} - self._graded), self._of))
        if has_ended:
            entries.append(ending(self._names, self._of))
        return [first_line(session, path), *(line_of(entry, at) for at, entry in enumerate(entries, start=2))]


def _session(value: object) -> BatchSession:
    session: BatchSession = decode(BatchSession, value, "session")
    keys = {field.name for field in fields(BatchSession)}
    if not isinstance(value, dict) or not set(value) <= keys:
        raise Misfit("the session has keys of another version")
    if not is_id(session.assignment) or not _SHARD.fullmatch(session.shard):
        raise Misfit("the session names no assignment, or no part of a class")
    return session


def _absolute(value: object) -> str:
    path: str = decode(str, value, "path")
    if path and not PurePath(path).is_absolute():
        raise Misfit("expected an absolute path of the assignment")
    return path


def _ids(value: object) -> tuple[str, ...]:
    names = tuple(map(_id, value)) if isinstance(value, list) else None
    if names is None or len(set(names)) < len(names):
        raise Misfit("expected a list of names, each once")
    return names


def _id(value: object) -> str:
    """A submission's id; the one place that decides what a name in the journal may be."""
    if not isinstance(value, str) or not is_id(value):
        raise Misfit(f"`{escaped(str(value), 60)}` is no name that the grader gives to a submission")
    return value


def _checksums(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise Misfit("expected checksums by names")
    return value


def read(path: Path) -> Journal:
    """A journal from its file, empty where there is none; raises UsageError where that cannot be read."""
    journal = Journal(path)
    try:
        content = places.read(path)
    except (FileNotFoundError, NotADirectoryError):
        return journal
    except OSError as problem:
        raise UsageError(f"{path}: cannot be read: {places.reason(problem)}") from None
    *lines, rest = content.split(_END)
    for line in lines:
        journal.take(line.decode("utf-8", "replace"))
    if rest:
        journal.length += 1
        journal.damaged.append((journal.length, "it is cut off"))
    return journal


def first_line(session: BatchSession, path: str = "") -> str:
    """The line that a journal begins with; ``path`` is that of an assignment that is not bundled."""
    where = {"path": path} if path else {}
    return line_of({"format_version": FORMAT_VERSION, "session": asdict(session), **where})


def line_of(entry: Mapping[str, object], number: int = 0) -> str:
    """A line without its end; the first one has no ``number``."""
    return sealed(json.dumps({"number": number, **entry} if number else entry))


def keeping(sums: Mapping[str, str], *, written: bool) -> dict[str, object]:
    """The entry that says which files of the class are about to be, or are, ``written``."""
    return {"files": dict(sums), **({"written": True} if written else {})}


def vouching(submission: str, vouched: Vouched, *, replaces: bool = False) -> dict[str, object]:
    """The entry that vouches for a submission; it ``replaces`` a record that is still there."""
    what = {"digest": vouched.digest} if vouched.digest else {}
    kept = {"kept": dict(vouched.kept)} if vouched.kept else {}
    how = {"replaces": True} if replaces else {}
    return {"submission": submission, **what, "verdict": vouched.verdict, **kept, **how}


def _vouching_anew(submission: str, vouched: Vouched) -> Iterator[dict[str, object]]:
    """The entries that vouch for a submission and for the records that count, the newest last."""
    for at, record in enumerate((*vouched.before, vouched.record)):
        others = {name: value for name, value in vouched.kept.items() if name != RECORD}
        kept = {**others, RECORD: record} if record else others
        yield vouching(submission, replace(vouched, kept=kept), replaces=at > 0)


def beginning(
    names: Collection[str], to_grade: Collection[str], of: str, *, rescores: bool = False
) -> dict[str, object]:
    """The entry with which a batch begins: who is in the class, and whom it grades."""
    what = {"rescores": True} if rescores else {}
    return {"begins": list(names), "to_grade": list(to_grade), **({"of": of} if of else {}), **what}


def ending(names: Collection[str], of: str) -> dict[str, object]:
    """The entry with which a batch ends."""
    return {"class": list(names), **({"of": of} if of else {})}
