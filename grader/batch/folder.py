"""The ``OUT/`` folder: where grades are written, and the journal that says which are done.

    OUT/journal.jsonl                 first line: what is being graded; then a line per finished submission,
                                      and a line that lists the class whenever a batch ends
    OUT/grades/<submission>/…         one submission's files
    OUT/grades/<submission>/source/…  what was handed in, for the staff and for reports that quote it
    OUT/grades/<submission>/trace.json.gz   the trace of a block that reports show, where there is one
    OUT/removed/<submission>/…        the same of who is in the class no more
    OUT/private/…                     in an anonymous class: what says who is who, for those who may know it
    OUT/…                             the class's files

A file appears whole or not at all: it is written beside its place and renamed. A journal line is written
after the files it vouches for, so that a batch that is killed at any moment can go on where it stopped.
`load_grade` reads one back, with the evidence that it was decided on; `grader.batch.reading` reads a class.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import IO, TYPE_CHECKING, Any

from grader.errors import StorageError, UsageError
from grader.reports import record_json
from grader.submission import lines
from grader.submission.items import kept_sources, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from grader.model import Evidence, Grade, Submission
    from grader.reports.files import Text

JOURNAL = "journal.jsonl"
GRADES = "grades"
REMOVED = "removed"
PRIVATE = "private"
IMPORT = "import.json"
LOCK = ".lock"
RECORD = "record.json"
SOURCE = "source"
TRACE = "trace.json.gz"
EXPORT = "grade.json"
"""For other programs: never read here, but it tells of a grade whose record is missing."""

_WRITTEN = (RECORD, EXPORT, "junit.xml", "results.json", "report.html", "staff.html")
"""What is written of each submission."""

_ENDS = (b"}\n", b">\n")
"""How JSON ends there, and XML and HTML."""

_BEGINNING = 4096
"""Bytes of a page's beginning, in which it says what it was made of."""

_NO_FOLDER = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ELOOP)
"""What stands where the folder should be: a file, or a link that leads to itself."""
_FULL = (errno.ENOSPC, errno.EDQUOT)
"""Why nothing more can be written where there is no space left, or none for this user."""


@dataclass(frozen=True, slots=True)
class BatchSession:
    """What decides every grade of a batch beside the submission itself: if it changes, nothing is reused."""

    assignment: str
    assignment_digest: str
    backend: str
    seed: int
    grader: str
    toolkit: str
    device: str = ""
    races: str = ""
    shard: str = ""
    """Which part of a class it is, as ``2/8``; empty where it is all of it."""


class OutFolder:
    """One ``OUT/`` folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def session(self) -> BatchSession | None:
        """What an earlier batch graded here; None in a new folder. Raises UsageError if it is no ``OUT/``."""
        lines = self._lines()
        if not lines:
            return None
        try:
            return BatchSession(**lines[0]["session"])
        except (KeyError, TypeError):
            why = "its first line is no session of this version of the grader; name another folder"
            raise UsageError(f"{self.path / JOURNAL}: {why}") from None

    def graded_session(self) -> BatchSession:
        """What was graded here; raises UsageError where nothing was, or as `session`."""
        session = self.session()
        if session is None and (self.path / GRADES).is_dir():
            why = "is missing or empty, which says what was graded"
            raise UsageError(f"{self.path}: {JOURNAL} {why}; grade the class again")
        if session is None:
            raise UsageError(_no_grades(self.path))
        return session

    def begin(self, session: BatchSession) -> None:
        """Start a journal, forgetting what an earlier one vouched for."""
        try:
            (self.path / GRADES).mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise StorageError(_cannot(self.path, problem)) from None
        self.write({JOURNAL: json.dumps({"session": asdict(session)}) + "\n"})

    def finished(self) -> dict[str, str]:
        """Submissions that are done: id → digest of what was graded."""
        done = {}
        for line in self._lines()[1:]:
            if isinstance(line.get("submission"), str) and isinstance(line.get("digest"), str):
                done[line["submission"]] = line["digest"]
        return done

    @contextmanager
    def locked(self, hint: str = "wait for it, or choose another folder with -o") -> Iterator[None]:
        """Keep other batches out of the folder; raises UsageError if one is at work in it, or it is none.

        ``hint`` says what to do then.

        The lock is the system's, on an open file: it ends with the process, however that ends.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = (self.path / LOCK).open("w")
        except OSError as problem:
            if problem.errno in _NO_FOLDER:
                raise UsageError(f"{self.path}: is no folder; choose another one with -o") from None
            raise StorageError(_cannot(self.path, problem)) from None
        with lock:
            self._hold(lock, fcntl.LOCK_EX, hint)
            yield

    @contextmanager
    def unchanging(self) -> Iterator[None]:
        """Keep batches out of a folder that is read, which nobody may be able to write; raises UsageError."""
        try:
            lock = (self.path / LOCK).open("r")
        except OSError:  # none that we could see has ever written here
            yield
            return
        with lock:
            self._hold(lock, fcntl.LOCK_SH, "wait for it")
            yield

    def _hold(self, lock: IO[str], kind: int, hint: str) -> None:
        try:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"{self.path}: another grader is writing here; {hint}") from None

    def note(self, submission: str, digest: str, verdict: str) -> None:
        """Vouch for a submission whose files are written."""
        self._append({"submission": submission, "digest": digest, "verdict": verdict})

    def note_class(self, submissions: Sequence[str], of: str = "") -> None:
        """Say which submissions the class consists of now; ``of`` is the digest of the class of a shard."""
        self._append({"class": list(submissions)} | ({"of": of} if of else {}))

    def last_class(self) -> tuple[tuple[str, ...], str] | None:
        """What `note_class` was told last; None where no batch has come to its end since it began."""
        for line in reversed(self._lines()):
            if isinstance(names := line.get("class"), list):
                return tuple(map(str, names)), str(line.get("of", ""))
        return None

    def _append(self, entry: Mapping[str, object]) -> None:
        line = json.dumps(entry)
        try:
            with (self.path / JOURNAL).open("a", encoding="utf-8") as journal:
                journal.write(line + "\n")
                journal.flush()
                os.fsync(journal.fileno())
        except OSError as problem:
            raise StorageError(_cannot(self.path / JOURNAL, problem)) from None

    @property
    def is_anonymous(self) -> bool:
        """Whether students have pseudonyms here."""
        return (self.path / PRIVATE).is_dir()

    @property
    def with_names(self) -> Path:
        """Where files are that name students: one folder for all of them in an anonymous class."""
        return self.path / PRIVATE if self.is_anonymous else self.path

    def be_anonymous(self) -> None:
        """Keep files that name students from others than their owner; raises StorageError."""
        try:
            (self.path / PRIVATE).mkdir(mode=0o700, exist_ok=True)
        except OSError as problem:
            raise StorageError(_cannot(self.path / PRIVATE, problem)) from None

    def write_with_names(self, files: Mapping[str, str]) -> None:
        """Write files of the class that name students; raises StorageError, leaving no half file."""
        _write_texts(self.with_names, files)

    def write(self, files: Mapping[str, Text], submission: str | None = None) -> None:
        """Write files of one submission, or of the class; raises StorageError, leaving no half file.

        A text that is too large for memory may come in parts.
        """
        _write_texts(self.path if submission is None else self.path / GRADES / submission, files)

    def keep_source(self, submission: Submission) -> None:
        """Keep what was handed in, instead of what was kept before; raises StorageError."""
        folder = self.path / GRADES / submission.id / SOURCE
        kept = kept_sources(submission)
        try:
            for path in folder.glob("*"):
                if path.name not in kept:
                    path.unlink()
        except OSError as problem:
            raise StorageError(_cannot(folder, problem)) from None
        for name, content in kept.items():
            _write(folder / name, (content,))

    def copy_submission(self, other: OutFolder, submission: str) -> None:
        """Take over the files of a submission that was graded into another folder; raises StorageError."""
        target = self.path / GRADES / submission
        part = target.parent / f".{submission}.part"
        try:
            shutil.rmtree(part, ignore_errors=True)
            shutil.copytree(other.path / GRADES / submission, part, symlinks=True)
            shutil.rmtree(target, ignore_errors=True)
            part.rename(target)
        except shutil.Error as problems:  # with a tuple for each file: where from, where to, why
            source, _, why = problems.args[0][0]
            reason = why.partition("] ")[2].partition(": ")[0] or why  # less its number and the paths again
            raise StorageError(
                f"{source}: cannot be copied to {self.path}: {reason}; free some space or choose another "
                "folder with -o"
            ) from None
        except OSError as problem:
            raise StorageError(_cannot(target, problem)) from None

    def source_lines(self, grade: Grade) -> tuple[str, ...]:
        """The lines of the file that was graded; none where it is not kept, as by older versions."""
        source = self.source(grade)
        return tuple(lines(source)) if source else ()

    def source(self, grade: Grade) -> bytes:
        """The file that was graded; nothing where it is not kept, as by older versions."""
        path = self.path / GRADES / grade.submission_id / SOURCE / safe(grade.submission_file)
        try:
            return path.read_bytes()
        except OSError:
            return b""

    def further_lines(self, grade: Grade) -> dict[str, tuple[str, ...]]:
        """The lines of the files that were handed in beside the graded one, by the names they are kept by."""
        folder = self.path / GRADES / grade.submission_id / SOURCE
        try:
            others = [path for path in sorted(folder.glob("*")) if path.name != safe(grade.submission_file)]
            return {path.name: tuple(lines(path.read_bytes())) for path in others}
        except OSError:
            return {}

    def keep_trace(self, grade: Grade, trace: bytes) -> None:
        """Keep the trace of a block instead of what was kept before; raises StorageError."""
        path = self.path / GRADES / grade.submission_id / TRACE
        try:
            path.unlink(missing_ok=True)
        except OSError as problem:
            raise StorageError(_cannot(path, problem)) from None
        if trace:
            _write(path, (trace,))

    def trace(self, grade: Grade) -> bytes:
        """The trace that is kept of a submission; empty where there is none."""
        try:
            return (self.path / GRADES / grade.submission_id / TRACE).read_bytes()
        except OSError:
            return b""

    def beginning(self, name: str) -> str:
        """The first 4 KiB of a file of the class; empty where it is not there or cannot be read."""
        try:
            with (self.path / name).open("rb") as file:
                return file.read(_BEGINNING).decode("utf-8", "replace")
        except OSError:
            return ""

    def record_path(self, submission: str) -> Path:
        """Where a submission's whole grade is kept, for `report` and `rescore`."""
        return self.path / GRADES / submission / RECORD

    def record(self, submission: str) -> str:
        """A submission's record.json; raises UsageError if it is not there or cannot be read."""
        path = self.record_path(submission)
        if not path.exists() and not path.is_symlink():
            why = "is missing, as where an older version graded"
            raise UsageError(f"{path}: {why}; grade the submission again")
        return _text(path)

    def page(self, submission: str, name: str) -> str:
        """A file that was written of a submission; raises UsageError if it is not there to its end."""
        path = self.path / GRADES / submission / name
        if not _is_whole(path):
            raise UsageError(f"{path}: is missing or damaged; `grader report {self.path}` writes it again")
        return _text(path)

    def is_whole(self, submission: str) -> bool:
        """Whether what is written of a submission is there to its end: a power cut leaves files cut off."""
        folder = self.path / GRADES / submission
        return all(_is_whole(folder / name) for name in _WRITTEN)

    def remove_others(self, submissions: Sequence[str]) -> tuple[str, ...]:
        """Move grades of those who are not in the class any more into ``removed/``; gives their ids.

        A grade that was moved there before is kept: a later one gets a number behind ``~``, which no id has.
        """
        folder, staying = self.path / GRADES, set(submissions)
        gone = sorted(path.name for path in folder.iterdir() if path.name not in staying and path.is_dir())
        for name in gone:
            target, number = self.path / REMOVED / name, 1
            while target.exists():
                number += 1
                target = self.path / REMOVED / f"{name}~{number}"
            try:
                target.parent.mkdir(exist_ok=True)
                (folder / name).rename(target)
            except OSError as problem:
                raise StorageError(_cannot(target, problem)) from None
        return tuple(gone)

    def bring_back(self, submissions: Sequence[str]) -> None:
        """Move grades that were removed last back to where they were, of those who are in the class again."""
        for name in submissions:
            target, number = self.path / GRADES / name, 1
            newest = self.path / REMOVED / name
            while (later := self.path / REMOVED / f"{name}~{number + 1}").is_dir():
                newest, number = later, number + 1
            if newest.is_dir() and not target.exists():
                try:
                    newest.rename(target)
                except OSError as problem:
                    raise StorageError(_cannot(target, problem)) from None

    def submissions(self) -> tuple[str, ...]:
        """The class as the last batch saw it, as far as there are grades; all of them after a crash."""
        if not (self.path / GRADES).is_dir():
            raise UsageError(_no_grades(self.path))
        folder = self.path / GRADES
        graded = sorted({path.parent.name for name in (RECORD, EXPORT) for path in folder.glob(f"*/{name}")})
        last = self.last_class()
        return tuple(graded if last is None else sorted(set(graded).intersection(last[0])))

    def _lines(self) -> list[dict[str, Any]]:
        """The journal's lines; one that was cut off by a crash, or is damaged, is passed over."""
        try:
            text = (self.path / JOURNAL).read_bytes().decode("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as problem:
            raise UsageError(f"{self.path / JOURNAL}: cannot be read: {problem.strerror}") from None
        records = []
        for line in text.splitlines():
            try:
                parsed = json.loads(line)
            except ValueError:
                continue
            if isinstance(parsed, dict):
                records.append(parsed)
        return records


def _write_texts(folder: Path, files: Mapping[str, Text]) -> None:
    for name, text in files.items():
        parts = (text,) if isinstance(text, str) else text
        _write(folder / name, (part.encode("utf-8", "backslashreplace") for part in parts))


def _write(path: Path, content: Iterable[bytes]) -> None:
    part = path.parent / f".{path.name}.part"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.writelines(content)
        part.replace(path)
    except OSError as problem:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise StorageError(_cannot(path, problem)) from None


def _is_whole(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            file.seek(-len(_ENDS[0]), os.SEEK_END)
            return file.read() in _ENDS
    except OSError:  # it is not there, or empty
        return False


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"{path}: cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: cannot be read: it is not UTF-8 text") from None


def _no_grades(path: Path) -> str:
    return f"{path}: no grades here; expected the folder given to `grader grade -o`"


def _cannot(path: Path, problem: OSError) -> str:
    hint = "free some space" if problem.errno in _FULL else "use a folder that can be written"
    return f"{path}: cannot be written: {problem.strerror}; {hint}"


def load_grade(out: OutFolder, submission: str) -> Grade:
    """The stored grade of a submission, with its evidence; raises UsageError naming a file that is none."""
    return record_json.load(out.record(submission), str(out.record_path(submission)), submission)


def load_shown(out: OutFolder, submission: str) -> Grade:
    """The same as the reports of a class need it: its evidence is checked and left out, but for a digest."""
    path = str(out.record_path(submission))
    return record_json.load(out.record(submission), path, submission, with_evidence=False)


def evidence_of(out: OutFolder, grade: Grade) -> Evidence:
    """What a stored grade was decided on; raises UsageError where its record holds nothing of it."""
    if grade.evidence is None:
        path = out.record_path(grade.submission_id)
        raise UsageError(f"{path} holds no evidence; grade the submission again")
    return grade.evidence
