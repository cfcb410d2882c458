"""``OUT/journal.jsonl``: what was graded, whose grades hold, and whether a batch came to its end.

    {"format_version": 2, "session": {…}, "path": …}       the first line: what decides every grade
    {"files": {name: checksum}, "written": …}              a file of the class that later commands read
    {"begins": […], "to_grade": […], "of": …}              a batch: who is in the class, whom it grades
    {"submission": …, "digest": …, "verdict": …, "kept": {name: checksum}}    one whose files are written
    {"class": […], "of": …}                                the batch came to its end; who is in the class

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
from dataclasses import asdict, fields
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
    from collections.abc import Collection, Mapping
    from pathlib import Path

JOURNAL = "journal.jsonl"
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
    what is kept beside the grade, by its path in the submission's folder.
    """

    digest: str
    verdict: str
    kept: Mapping[str, str]

    def judged(self, verdict: str) -> Vouched:
        """The same with another verdict; what the grader failed at is not done."""
        return Vouched("" if verdict == Verdict.ERROR else self.digest, verdict, self.kept)


@frozen
class ClassState:
    """Students of a class, as the last batch saw it, and the grades of it that are there.

    ``names`` are none where an older version was stopped, which did not write down whom it was to grade.
    """

    names: tuple[str, ...]
    graded: tuple[str, ...]
    of: str
    has_ended: bool
    unknown: tuple[str, ...] = ()
    """Whose grades are in the folder though no line speaks of them: the journal lost its last lines."""

    def unfinished(self) -> str:
        """Say how much is graded where that is not, or may not be, the whole class; empty where it is."""
        clauses = []
        if not self.has_ended:
            graded = f"{len(self.graded)} of {len(self.names)}" if self.names else f"only {len(self.graded)}"
            clauses.append(f"{graded} are graded, for its batch has not come to its end")
        if self.unknown:
            clauses.append(
                f"the grades of {quoted(self.unknown)} are not in {JOURNAL}, which was cut off or is an "
                "older copy, and are left out"
            )
        return "; ".join(clauses)


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
        self.lines: list[str] = []
        """The lines that are not damaged."""
        self.damaged: list[tuple[int, str]] = []
        """The numbers of the lines that are, and why."""
        self._names: tuple[str, ...] = ()
        self._graded: set[str] = set()
        self._of = ""
        self._has_ended = False

    def state(self) -> ClassState:
        """The class as it is now; raises UsageError where a line is damaged: it may have said otherwise."""
        self.must_be_sound()
        return ClassState(tuple(sorted(self._names)), tuple(sorted(self._graded)), self._of, self._has_ended)

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
        number = len(self.lines) + len(self.damaged) + 1
        try:
            entry = self._entry(line, is_first=number == 1)
            if number == 1:
                self.session = _session(entry.get("session"))
                self.assignment_path = _absolute(entry.get("path", ""))
            else:
                self._take(entry)
        except Misfit as problem:
            self.damaged.append((number, str(problem)))
        else:
            self.lines.append(line)

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

    def _take(self, entry: dict[str, Any]) -> None:
        if "submission" in entry:
            name = _id(entry["submission"])
            kept = _checksums(entry.get("kept", {}))
            digest, verdict = (decode(str, entry.get(key, ""), key) for key in ("digest", "verdict"))
            self.vouched[name] = Vouched(digest, verdict, kept)
            self._graded.add(name)
            self._has_ended = False
        elif "files" in entry:
            written = entry.get("written") is True
            for name, value in _checksums(entry["files"]).items():
                self.files[name] = {value} if written else self.files.get(name, set()) | {value}
        elif "begins" in entry:
            names, to_grade = _ids(entry["begins"]), _ids(entry.get("to_grade"))
            self._class(names, entry, has_ended=False)
            self._graded = set(names) - set(to_grade)
        elif "class" in entry:
            names = _ids(entry["class"])
            if not names and not (self.session and self.session.shard):
                raise Misfit("it names no submission")
            self._class(names, entry, has_ended=True)
            self._graded = set(names)

    def _class(self, names: tuple[str, ...], entry: dict[str, Any], *, has_ended: bool) -> None:
        self._of = decode(str, entry.get("of", ""), "of")
        self._names, self._has_ended = names, has_ended


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
        journal.damaged.append((len(lines) + 1, "it is cut off"))
    return journal


def first_line(session: BatchSession, path: str = "") -> str:
    """The line that a journal begins with; ``path`` is that of an assignment that is not bundled."""
    where = {"path": path} if path else {}
    return line_of({"format_version": FORMAT_VERSION, "session": asdict(session), **where})


def line_of(entry: Mapping[str, object]) -> str:
    """A line without its end."""
    return sealed(json.dumps(entry))


def keeping(sums: Mapping[str, str], *, written: bool) -> str:
    """The line that says which files of the class are about to be, or are, ``written``."""
    return line_of({"files": dict(sums), **({"written": True} if written else {})})


def vouching(submission: str, vouched: Vouched) -> str:
    """The line that vouches for a submission."""
    what = {"digest": vouched.digest} if vouched.digest else {}
    kept = {"kept": dict(vouched.kept)} if vouched.kept else {}
    return line_of({"submission": submission, **what, "verdict": vouched.verdict, **kept})


def beginning(names: Collection[str], to_grade: Collection[str], of: str) -> str:
    """The line with which a batch begins: who is in the class, and whom it grades."""
    return line_of({"begins": list(names), "to_grade": list(to_grade), **({"of": of} if of else {})})


def ending(names: Collection[str], of: str) -> str:
    """The line with which a batch ends."""
    return line_of({"class": list(names), **({"of": of} if of else {})})


def submission_in(line: str) -> str:
    """The submission that a line vouches for; empty where it says something else."""
    entry = json.loads(line)
    name: str = entry.get("submission", "")
    return name
