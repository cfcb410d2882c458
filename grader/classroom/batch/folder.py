"""The ``OUT/`` folder: the grades, and the journal that says which are done.

    OUT/journal.jsonl                 graded work, complete or not (`grader.classroom.batch.journal`)
    OUT/grades/<submission>/…         one submission's files
    OUT/grades/<submission>/source/…  submitted files, for the staff and for reports that quote them
    OUT/grades/<submission>/trace.json.gz   the trace of a block that reports show, where there is one
    OUT/removed/<submission>/…        the same of students who are in the class no more
    OUT/private/…                     in an anonymous class: the identities, for those who may know them
    OUT/…                             the class's files

A file appears whole or not at all: it is written beside its place and renamed. A journal line is written
after the files it vouches for, and before those that it replaces, so that a batch that is killed at any
moment can go on where it stopped; that it came to its end is the last of what is written.
What is read back has a checksum, in itself or in the journal, and no link below ``OUT/`` is followed.
`load_grade` reads one back, with the evidence that it was decided on; `grader.classroom.batch.reading` reads
a class.
"""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.errors import StorageError, UsageError
from grader.base.text import escaped, listed
from grader.classroom.batch import journal, places
from grader.classroom.batch.journal import JOURNAL, RECORD, BatchSession, Journal, Vouched
from grader.grading.submission import lines
from grader.grading.submission.items import is_id, safe, stored_sources
from grader.model.seals import LONGEST, checksum, is_page_intact, seal_of, sealed_page
from grader.reports import record_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from grader.classroom.batch.journal import ClassState
    from grader.model import Evidence, Grade, Submission
    from grader.reports.files import Text

__all__ = ["RECORD", "BatchSession", "OutFolder"]

GRADES = "grades"
PRIVATE = "private"
IMPORT = "import.json"
LOCK = ".lock"
REPORT = "report.html"
SOURCE = "source"
TRACE = "trace.json.gz"
EXPORT = "grade.json"
"""File for other programs: never read here, but it is evidence of a grade whose record is missing."""

_WRITTEN = (RECORD, EXPORT, "junit.xml", "results.json", REPORT, "staff.html")
"""Files that are written for each submission."""

_ENDS = (b"}\n", b">\n")
"""Last bytes of the JSON files there, and of XML and HTML files."""

_BEGINNING = 4096
"""Bytes of a page's beginning, in which it says what it was made of."""

_NO_FOLDER = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR)
"""Error numbers of a file that stands where the folder should be."""


class OutFolder:
    """One ``OUT/`` folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[object, Journal] | None = None
        self._kept: dict[str, dict[str, str]] = {}
        """The checksums of what is written of submissions that are not vouched for yet."""

    def journal(self) -> Journal:
        """The journal, read anew where it is another than before; raises UsageError."""
        state = self._state_of_journal()
        if self._read is None or self._read[0] != state:
            self._read = (state, journal.read(self.path / JOURNAL))
        return self._read[1]

    def _state_of_journal(self) -> object:
        try:
            status = (self.path / JOURNAL).lstat()
        except OSError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns

    def session(self) -> BatchSession | None:
        """Session of an earlier batch; None in a new folder. Raises UsageError if it is no ``OUT/``."""
        now = self.journal()
        if now.session is None and now.length:
            why = "its first line is damaged, or no session of this version of the grader"
            raise UsageError(f"{now.path}: {why}; bring it back from a copy, or name another folder")
        return now.session

    def graded_session(self) -> BatchSession:
        """Session of the batch that was graded here; raises UsageError without one, or as `session`."""
        session = self.session()
        if session is None and (self.path / GRADES).is_dir():
            why = "is missing or empty, which says what was graded"
            raise UsageError(f"{self.path}: {JOURNAL} {why}; grade the class again")
        if session is None:
            raise UsageError(f"{self.path}: no grades here; expected the folder given to `grader grade -o`")
        return session

    def state(self) -> ClassState:
        """Students of the class, and which are graded; raises as `graded_session` and `Journal.state`."""
        self.graded_session()
        state = self.journal().state()
        return replace(state, unknown=self._unknown({*state.names, *state.graded}))

    def _unknown(self, names: Collection[str]) -> tuple[str, ...]:
        """Folders with grades of submissions that are none of these; empty where there are none."""
        folder = places.folder_in(self.path, GRADES)
        there = {path.name for path in folder.glob("*")} - set(names)
        return tuple(sorted(name for name in there if is_id(name) and self._holds_grade(folder / name)))

    def _holds_grade(self, folder: Path) -> bool:
        return any((folder / name).is_file() for name in (RECORD, EXPORT))

    def submissions(self) -> tuple[str, ...]:
        """The ids of the grades that there are, sorted; raises as `state`."""
        return self.state().graded

    def finished(self) -> dict[str, str]:
        """Submissions that are done: id → digest of what was graded. What a damaged line said is unknown."""
        vouched = self.journal().vouched
        return {name: entry.digest for name, entry in vouched.items() if entry.digest}

    def begin(self, session: BatchSession, path: str = "") -> None:
        """Start a journal, forgetting what an earlier one vouched for.

        ``path`` is the absolute one of an assignment that is not bundled.
        """
        try:
            places.folder_in(self.path, GRADES).mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise StorageError(places.cannot_write(self.path, problem)) from None
        self._write_journal([journal.first_line(session, path)])

    def begin_again(self, session: BatchSession, verdicts: Mapping[str, str], path: str = "") -> None:
        """Say the same of the class as before, graded in another session: what was unfinished stays so.

        The ``verdicts`` are the current ones of the submissions; an error is tried again by the next batch.
        ``path`` as in `begin`.
        """
        now = self.journal()
        state = now.state()
        has_ended = state.has_ended or state.is_rescoring
        self._write_journal(now.anew(session, path, verdicts, has_ended=has_ended))

    def mend(self) -> str:
        """Remove what is damaged in the journal, so that a batch can go on; says what was, if anything."""
        now = self.journal()
        session = self.session()
        if not now.damaged or session is None:
            return ""
        number = len(now.damaged)
        self._write_journal(now.anew(session, now.assignment_path, {}, has_ended=False))
        which = "line is" if number == 1 else "lines are"
        return f"{now.path}: {number} {which} damaged and left out; what is in doubt is graded again"

    def _write_journal(self, texts: Sequence[str]) -> None:
        places.write(self.path / JOURNAL, (f"{text}\n".encode() for text in texts))
        self._read = None

    @contextmanager
    def locked(self, hint: str = "wait for it, or choose another folder with -o") -> Iterator[None]:
        """Keep other batches out of the folder; raises UsageError if one is at work in it, or it is none.

        ``hint`` says what to do then.

        The lock is the system's, on an open file: it ends with the process, however that ends.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = places.lock_file(self.path / LOCK, to_write=True)
        except OSError as problem:
            if problem.errno in _NO_FOLDER or (problem.errno == errno.ELOOP and not self.path.is_dir()):
                raise UsageError(f"{self.path}: is no folder; choose another one with -o") from None
            locked = self.path / LOCK if self.path.is_dir() else self.path
            raise StorageError(places.cannot_write(locked, problem)) from None
        with os.fdopen(lock, "w"):
            self._hold(lock, fcntl.LOCK_EX, hint)
            yield

    @contextmanager
    def unchanging(self) -> Iterator[None]:
        """Keep batches out of a folder that is read, which may be read-only; raises UsageError."""
        try:
            lock = places.lock_file(self.path / LOCK, to_write=False)
        except OSError:  # none that we could see has ever written here
            yield
            return
        with os.fdopen(lock):
            self._hold(lock, fcntl.LOCK_SH, "wait for it")
            yield

    def _hold(self, lock: int, kind: int, hint: str) -> None:
        try:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"{self.path}: another grader is writing here; {hint}") from None

    def note(self, submission: str, digest: str, verdict: str, kept: Mapping[str, str] | None = None) -> None:
        """Vouch for a submission whose files are written; no ``digest`` says that it is to be tried again.

        ``kept`` are the checksums of what is kept beside the grade where another folder's was taken over.
        """
        written = self._kept.pop(submission, {})
        sums = {**(kept or written), **self._sum_of_record(submission)}
        self._append(journal.vouching(submission, Vouched(digest, verdict, sums)))

    def _sum_of_record(self, submission: str) -> dict[str, str]:
        try:
            return {RECORD: checksum(places.read(self.record_path(submission)))}
        except OSError:  # whoever reads the grade says so
            return {}

    def note_replacing(self, grade: Grade, record: str) -> None:
        """Say that this ``record`` of a grade is about to be written in the place of the one that is there.

        Both count until `note_class` or `begin_again`, so that a batch that is killed can go on.
        """
        name = grade.submission_id
        now = self.journal().vouched.get(name) or Vouched("", grade.verdict, {})
        kept = {**now.kept, RECORD: checksum(record)}
        entry = replace(now, kept=kept).judged(grade.verdict)
        self._append(journal.vouching(name, entry, replaces=True))

    def note_begun(self, submissions: Sequence[str], to_grade: Sequence[str], of: str = "") -> None:
        """Say who is in the class now, and whom this batch is to grade; ``of`` as in `note_class`."""
        self._append(journal.beginning(submissions, to_grade, of))

    def note_rescoring(self) -> None:
        """Say that all grades of the class are about to be scored anew; `begin_again` says that they are."""
        state = self.state()
        if state.names:  # else an older version was stopped here, which is unfinished anyway
            to_grade = sorted({*state.names} - {*state.graded})
            self._append(journal.beginning(state.names, to_grade, state.of, rescores=True))

    def note_class(self, submissions: Sequence[str], of: str = "") -> None:
        """Say that the batch is done, and who is in the class; ``of`` is the digest of a shard's class."""
        self._append(journal.ending(submissions, of))

    def _append(self, entry: Mapping[str, object]) -> None:
        now = self.journal()
        line = journal.line_of(entry, now.length + 1)
        places.append(self.path / JOURNAL, f"{line}\n".encode())
        now.take(line)
        self._read = (self._state_of_journal(), now)

    @property
    def is_anonymous(self) -> bool:
        """True if students have pseudonyms here; raises UsageError where a link is in that folder's place."""
        return places.folder_in(self.path, PRIVATE).is_dir()

    @property
    def with_names(self) -> Path:
        """Folder of the files that name students: one for all of them in an anonymous class."""
        return self.path / PRIVATE if self.is_anonymous else self.path

    def be_anonymous(self) -> None:
        """Keep files that name students from others than their owner; raises StorageError."""
        try:
            places.folder_in(self.path, PRIVATE).mkdir(mode=0o700, exist_ok=True)
        except OSError as problem:
            raise StorageError(places.cannot_write(self.path / PRIVATE, problem)) from None

    def write_with_names(self, files: Mapping[str, str]) -> None:
        """Write files of the class that name students and are read again; raises StorageError.

        The journal has their checksums before they are written, and afterwards no others.
        """
        sums = {name: checksum(text) for name, text in files.items()}
        if sums:
            self._append(journal.keeping(sums, written=False))
        _write_texts(self.with_names, files)
        now = self.journal().files
        if any(now[name] != {value} for name, value in sums.items()):
            self._append(journal.keeping(sums, written=True))

    def stored_file(self, name: str) -> bytes | None:
        """A file that `write_with_names` wrote; None where it never did.

        Raises UsageError if it is gone, damaged, or an older one.
        """
        path, sums = self.with_names / name, self.journal().files.get(name)
        again = (
            "bring it back from a copy, or write it again with `grader grade`, decisions with --adjustments"
        )
        try:
            content = places.read(path)
        except FileNotFoundError:
            if sums:
                raise UsageError(
                    f"{path}: is gone, though {JOURNAL} says that it was kept; {again}"
                ) from None
            return None
        except OSError as problem:
            raise UsageError(f"{path}: cannot be read: {places.reason(problem)}") from None
        if sums and checksum(content) not in sums:
            raise UsageError(f"{path}: is damaged, or was changed by hand: its checksum is another; {again}")
        return content

    def folder_of(self, submission: str) -> Path:
        """Folder of a submission's files; raises UsageError where none can be called so, or for a link."""
        if not is_id(submission):
            why = "is no name that the grader gives to a submission"
            raise UsageError(f"{self.path}: `{escaped(submission, 60)}` {why}")
        return places.folder_in(self.path, GRADES, submission)

    def write(self, files: Mapping[str, Text], submission: str | None = None) -> None:
        """Write files of one submission, or of the class; raises StorageError, leaving no half file.

        A text that is too large for memory may come in parts.
        """
        if submission is None:
            _write_texts(self.path, files)
            return
        if isinstance(page := files.get(REPORT), str):
            record = files.get(RECORD)
            of = seal_of(record) if isinstance(record, str) else self._seal_of_record(submission)
            files = {**files, REPORT: sealed_page(page, of)}
        _write_texts(self.folder_of(submission), files)

    def keep_source(self, submission: Submission) -> None:
        """Keep what was handed in, instead of what was kept before; raises StorageError."""
        folder = self._source_folder(submission.id)
        kept = stored_sources(submission)
        try:
            for path in folder.glob("*"):
                if path.name not in kept:
                    path.unlink()
        except OSError as problem:
            raise StorageError(places.cannot_write(folder, problem)) from None
        for name, content in kept.items():
            places.write(folder / name, (content,))
        self._kept[submission.id] = {f"{SOURCE}/{name}": checksum(content) for name, content in kept.items()}

    def _source_folder(self, submission: str) -> Path:
        self.folder_of(submission)
        return places.folder_in(self.path, GRADES, submission, SOURCE)

    def source_lines(self, grade: Grade) -> tuple[str, ...]:
        """The lines of the file that was graded; none where it is not kept, as by older versions."""
        source = self.source(grade)
        return tuple(lines(source)) if source else ()

    def source(self, grade: Grade) -> bytes:
        """The file that was graded; nothing where it is not kept. Raises UsageError where it is damaged."""
        return self._content_beside(grade.submission_id, SOURCE, safe(grade.submission_file))

    def further_lines(self, grade: Grade) -> dict[str, tuple[str, ...]]:
        """The lines of the files that were handed in beside the graded one, by the names they are kept by."""
        folder = self._source_folder(grade.submission_id)
        names = sorted(path.name for path in folder.glob("*"))
        return {
            name: tuple(lines(self._content_beside(grade.submission_id, SOURCE, name)))
            for name in names
            if name != safe(grade.submission_file)
        }

    def keep_trace(self, grade: Grade, trace: bytes) -> None:
        """Keep the trace of a block instead of what was kept before; raises StorageError."""
        path = self.folder_of(grade.submission_id) / TRACE
        try:
            path.unlink(missing_ok=True)
        except OSError as problem:
            raise StorageError(places.cannot_write(path, problem)) from None
        if trace:
            places.write(path, (trace,))
            self._kept.setdefault(grade.submission_id, {})[TRACE] = checksum(trace)

    def trace(self, grade: Grade) -> bytes:
        """The trace that is kept of a submission; empty where there is none. Raises as `source`."""
        return self._content_beside(grade.submission_id, TRACE)

    def _content_beside(self, submission: str, *names: str) -> bytes:
        """Content of a file kept beside a grade; empty where it is not there, or is no file."""
        path = places.folder_in(self.folder_of(submission), *names[:-1]) / names[-1]
        try:
            content = places.read(path)
        except OSError:
            return b""
        if self._checksums(submission).get("/".join(names)) not in (None, checksum(content)):
            again = f"grade it again with `grader grade --only {submission}`"
            raise UsageError(f"{path}: is damaged: its checksum is another; {again}")
        return content

    def _checksums(self, submission: str) -> Mapping[str, str]:
        """The checksums of what is kept beside a grade."""
        vouched = self.journal().vouched.get(submission)
        return self._kept.get(submission) or (vouched.kept if vouched else {})

    def beginning(self, name: str) -> str:
        """The first 4 KiB of a file of the class; empty where it is not there or cannot be read."""
        try:
            return places.read(self.path / name, _BEGINNING).decode("utf-8", "replace")
        except OSError:
            return ""

    def record_path(self, submission: str) -> Path:
        """Path of a submission's whole grade, for `report` and `rescore`."""
        return self.folder_of(submission) / RECORD

    def record(self, submission: str) -> str:
        """A submission's record.json; raises UsageError if it is not there or cannot be read."""
        path = self.record_path(submission)
        if not path.exists() and not path.is_symlink():
            why = "is missing, as where an older version graded"
            raise UsageError(f"{path}: {why}; grade the submission again")
        return _text(path)

    def report(self, submission: str) -> str:
        """The page that was written for a submission's students; raises UsageError if it is not whole."""
        path = self.folder_of(submission) / REPORT
        text = _text(path) if _is_whole(path) else ""
        intact = is_page_intact(text, self._seal_of_record(submission))
        if not text or not (intact or (intact is None and not self.journal().has_checksums)):
            why = f"is missing or damaged, or of another grade than {RECORD}"
            raise UsageError(f"{path}: {why}; `grader report {self.path}` writes it again")
        return text

    def _seal_of_record(self, submission: str) -> str:
        try:
            return seal_of(places.read(self.record_path(submission), LONGEST).decode("ascii", "replace"))
        except OSError:
            return ""

    def is_whole(self, submission: str) -> bool:
        """True if the files of a submission are there to their end: a power cut leaves files cut off."""
        folder = self.folder_of(submission)
        return all(_is_whole(folder / name) for name in _WRITTEN)

    def keeps_all(self, submission: str) -> bool:
        """True if the files kept beside a grade are as they were written: reports quote them."""
        kept = {name: value for name, value in self._checksums(submission).items() if name != RECORD}
        try:
            contents = {name: self._content_beside(submission, *name.split("/")) for name in kept}
        except UsageError:
            return False
        return all(checksum(contents[name]) == kept[name] for name in kept)


def _write_texts(folder: Path, files: Mapping[str, Text]) -> None:
    for name, text in files.items():
        parts = (text,) if isinstance(text, str) else text
        places.write(folder / name, (part.encode("utf-8", "backslashreplace") for part in parts))


def _is_whole(path: Path) -> bool:
    try:
        return places.last(path, len(_ENDS[0])) in _ENDS
    except OSError:  # it is not there, or empty
        return False


def _text(path: Path) -> str:
    try:
        return places.read(path).decode("utf-8")
    except OSError as problem:
        raise UsageError(f"{path}: cannot be read: {places.reason(problem)}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: cannot be read: it is not UTF-8 text") from None


def load_grade(out: OutFolder, submission: str) -> Grade:
    """The stored grade of a submission, with its evidence.

    Raises UsageError naming a file that is none, or another than the journal vouches for.
    """
    return _vouched_for(out, submission, with_evidence=True)


def load_without_evidence(out: OutFolder, submission: str) -> Grade:
    """The same as the reports of a class need it: its evidence is checked and left out, but for a digest."""
    return _vouched_for(out, submission)


def load_any(out: OutFolder, submission: str, *, with_evidence: bool = False) -> Grade:
    """Load the grade that is there, regardless of the journal; raise UsageError naming a damaged file."""
    return _loaded(out, submission, out.record(submission), with_evidence=with_evidence)


def _loaded(out: OutFolder, submission: str, record: str, *, with_evidence: bool) -> Grade:
    path = str(out.record_path(submission))
    return record_json.load(record, path, submission, with_evidence=with_evidence)


def _vouched_for(out: OutFolder, name: str, *, with_evidence: bool = False) -> Grade:
    """The grade, if it is what the journal says; raises UsageError for one that an earlier batch left."""
    record = out.record(name)
    grade = _loaded(out, name, record, with_evidence=with_evidence)
    now = out.journal()
    vouched, session = now.vouched.get(name), now.session
    if vouched is None or session is None:
        return grade
    differing = [
        what
        for what, stored, expected in (
            ("assignment", grade.assignment_id, session.assignment),
            ("seed", grade.seed, session.seed),
            ("hand-in", grade.submission_digest, vouched.digest or grade.submission_digest),
        )
        if stored != expected
    ]
    if not differing and not vouched.is_of(checksum(record)):
        differing = ["version"]
    if differing:
        raise UsageError(
            f"{out.record_path(name)}: is of another {listed(differing)} than {JOURNAL} says, as an earlier "
            "batch's is; run `grader grade` with the same command again, which grades it anew"
        )
    return grade


def evidence_of(out: OutFolder, grade: Grade) -> Evidence:
    """Evidence of a stored grade; raises UsageError where its record holds none of it."""
    if grade.evidence is None:
        path = out.record_path(grade.submission_id)
        raise UsageError(f"{path} holds no evidence; grade the submission again")
    return grade.evidence
