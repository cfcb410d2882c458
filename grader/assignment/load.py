"""An assignment's folder → `Assignment`, or everything that is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

from grader.assignment import (
    counters,
    cross_checks,
    document,
    draft,
    feedback,
    launching,
    question_checks,
    records,
)
from grader.assignment.bundled import FILE_NAME, locate_reference, reference_names, staff_folders
from grader.assignment.document import Flaw, Position, Refused
from grader.assignment.fields import suggestion
from grader.errors import SpecError
from grader.text import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from grader.assignment.draft import Draft
    from grader.model import Assignment, Named

    _Reader = Callable[[bytes], tuple[Named[Named[str]], list[feedback.Problem]]]

MAX_HEADER_BYTES = 256 * 1024
"""The largest header that an assignment may ship."""


def load_assignment(path: Path) -> Assignment:
    """The assignment in the folder ``path``, or in the file ``path``.

    Raises `SpecError` with every problem as ``file:line:column: dotted.path: message``, in the order of the
    file.
    """
    file = path / FILE_NAME if path.is_dir() else path
    content = _content(file)
    try:
        root, problems = document.read(content)
    except Refused as refused:
        raise SpecError((_line(file, refused.position, "", refused.message),)) from None
    parts, flaws = draft.read(document.plain(root))
    surroundings = _Surroundings.of(file, parts)
    flaws += [*launching.flaws(parts), *question_checks.flaws(parts), *surroundings.flaws]
    flaws += cross_checks.flaws(parts, surroundings.kernels, has_oracle=surroundings.has_oracle)
    if problems or flaws or surroundings.feedback.problems or parts.whole is None:
        problems += [(*document.locate(root, flaw), flaw.message) for flaw in flaws]
        lines = [_line(file, *problem) for problem in sorted(problems)]
        raise SpecError((*lines, *surroundings.feedback.problems))
    return records.assignment(
        parts.whole,
        surroundings.headers,
        surroundings.kernels or (),
        file.resolve().parent,
        _digest(content, surroundings),
        _digested(surroundings.reference_files),
        surroundings.feedback.texts,
    )


def _content(file: Path) -> bytes:
    try:
        if not file.is_file():
            raise SpecError((_line(file, None, "", "expected an assignment here; there is no such file"),))
        with file.open("rb") as stream:
            content = stream.read(document.MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise SpecError((_line(file, None, "", f"cannot be read: {_reason(error)}"),)) from error
    if len(content) > document.MAX_BYTES:
        limit = document.MAX_BYTES // 1024
        raise SpecError((_line(file, None, "", f"expected at most {limit} KiB; this is larger"),))
    return content


def _line(file: Path, position: Position | None, dotted: str, message: str) -> str:
    place = f":{position.line}:{position.column}" if position else ""
    line = f"{file}{place}: {dotted}: {message}" if dotted else f"{file}{place}: {message}"
    # Texts of the file are in it: a message stays one line, and does nothing to a terminal.
    return escaped(line, len(line))


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or "no such path"


# --- what belongs to an assignment but is not in its file ---------------------------------------------


@dataclass(frozen=True, slots=True)
class _Feedback:
    """Texts about mistakes, the files that they are from, and a line for each problem in them."""

    texts: Named[Named[str]] = ()
    files: tuple[tuple[str, bytes], ...] = ()
    problems: tuple[str, ...] = ()

    def overridden_by(self, over: _Feedback) -> _Feedback:
        """These texts and others, which win."""
        texts = feedback.merged(self.texts, over.texts)
        return _Feedback(texts, (*self.files, *over.files), (*self.problems, *over.problems))


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """The headers and the reference that the file names, as far as they are there."""

    headers: tuple[tuple[str, bytes], ...]
    reference: Path | None
    staff: tuple[Path, ...]
    """Where the staff's kernels are."""
    flaws: tuple[Flaw, ...]
    feedback: _Feedback = _Feedback()

    @classmethod
    def of(cls, file: Path, parts: Draft) -> _Surroundings:
        """Look beside ``file``, and for ``reference/<operation>``."""
        folder = file.resolve().parent
        headers, flaws = [], []
        for index, name in enumerate(getattr(parts.submission, "include", ())):
            header = _header(folder, name)
            if isinstance(header, bytes):
                headers.append((name, header))
            else:
                flaws.append(Flaw(("submission", "include", index), header))
        reference = locate_reference(parts.reference, folder) if parts.reference else None
        if parts.reference and not reference:
            known = suggestion(parts.reference, reference_names(folder))
            flaws.append(Flaw(("reference",), f"there is no folder reference/{parts.reference}; {known}"))
        texts = _feedback(folder, parts.feedback) if parts.feedback else _Feedback()
        if isinstance(texts, str):
            flaws.append(Flaw(("feedback",), texts))
            texts = _Feedback()
        staff = staff_folders(parts.reference or "", parts.id or "", folder)
        return cls(
            tuple(headers),
            reference,
            staff,
            tuple(flaws),
            _operation_feedback(reference).overridden_by(texts),
        )

    @property
    def kernels(self) -> frozenset[str] | None:
        """The staff's kernels: the ``.cu`` files of the reference, without the ending."""
        if not self.reference:
            return None
        written = frozenset(file.stem for folder in self.staff for file in folder.glob("*.cu"))
        return written | counters.recorded_kernels(self.staff)

    @property
    def reference_files(self) -> list[tuple[str, bytes]]:
        """The oracle and the staff's kernels."""
        return [file for folder in self.staff for file in _reference_files(folder)]

    @property
    def has_oracle(self) -> bool:
        """Whether the reference can compute expected values."""
        return self.reference is not None and (self.reference / "oracle.py").is_file()


def _feedback(folder: Path, name: str) -> _Feedback | str:
    """What the course's file of texts holds, or why there is nothing to read."""
    content = _header(folder, name)
    if isinstance(content, str):
        return content
    operations = (locate_reference(operation, folder) for operation in reference_names(folder))
    others = feedback.mistakes_of(operation for operation in operations if operation)
    return _read_feedback(folder / name, name, content, partial(feedback.read, others=others))


def _operation_feedback(reference: Path | None) -> _Feedback:
    """What the file with the texts of the operation's mistakes holds, if there is one."""
    if reference is None or not (reference / feedback.FILE_NAME).exists():
        return _Feedback()
    content = _header(reference.resolve(), feedback.FILE_NAME)
    file, label = reference / feedback.FILE_NAME, f"reference/{reference.name}/{feedback.FILE_NAME}"
    if isinstance(content, str):
        return _Feedback(problems=(_line(file, None, "", content),))
    return _read_feedback(file, label, content, feedback.read_operation)


def _read_feedback(file: Path, label: str, content: bytes, read: _Reader) -> _Feedback:
    try:
        texts, problems = read(content)
    except Refused as refused:
        return _Feedback(problems=(_line(file, refused.position, "", refused.message),))
    lines = tuple(_line(file, *problem) for problem in sorted(problems))
    return _Feedback(texts, ((label, content),), lines)


def _header(folder: Path, name: str) -> bytes | str:
    """The header's text as bytes, or what is wrong with it."""
    file = (folder / name).resolve()
    if not file.is_relative_to(folder):
        return f"`{name}` leads out of the assignment's folder"
    try:
        if not file.is_file():
            return f"there is no file `{name}` beside the assignment"
        content = file.read_bytes() if file.stat().st_size <= MAX_HEADER_BYTES else None
        if content is None:
            return f"expected at most {MAX_HEADER_BYTES // 1024} KiB in `{name}`"
        content.decode()
    except UnicodeDecodeError:
        return f"`{name}` is not UTF-8 text"
    except OSError as error:
        return f"`{name}` cannot be read: {_reason(error)}"
    return content


def _digest(content: bytes, surroundings: _Surroundings) -> str:
    """SHA-256 over all that decides a grade: the file, what it names beside it, and the reference."""
    beside = (*surroundings.headers, *surroundings.feedback.files)
    return _digested((("assignment", content), *beside, *surroundings.reference_files))


def _digested(parts: Iterable[tuple[str, bytes]]) -> str:
    digest = sha256()
    for label, part in parts:
        digest.update(f"{label}\0{len(part)}\0".encode())
        digest.update(part)
    return digest.hexdigest()


def _reference_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The oracle and the kernels of a folder; mistakes decide no grade."""
    for file in sorted((*folder.glob("*.py"), *folder.glob("*.cu"), *folder.glob(counters.FILE_NAME))):
        if not file.name.startswith("."):
            yield f"reference/{folder.name}/{file.name}", file.read_bytes()
