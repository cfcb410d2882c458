"""An assignment's folder → the frozen record `Assignment`, or everything that is wrong with it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

from grader.base.arithmetic import Name
from grader.base.errors import SpecError
from grader.base.records import frozen
from grader.base.text import escaped, suggestion
from grader.grading.assignment import (
    document,
    draft,
    feedback,
)
from grader.grading.assignment.bundled import (
    BASELINES_FILE,
    FILE_NAME,
    SOLUTION,
    locate_reference,
    recorded_kernels,
    reference_names,
    staff_folders,
)
from grader.grading.assignment.cross_checks import cross_check_flaws, question_flaws
from grader.grading.assignment.document import Flaw, Position, UnreadableDocument
from grader.grading.assignment.launching import launch_flaws
from grader.grading.assignment.questions import AnswersFile, answers_interface, question_cases
from grader.grading.assignment.structure import (
    FunctionFile,
    FunctionPart,
    KernelFile,
    ProgramCase,
    ProgramPart,
    RandomCases,
)
from grader.model import (
    AnswersInterface,
    Assignment,
    CasePlan,
    FunctionInterface,
    KernelInterface,
    OutputJudge,
    Parameter,
    ProgramInterface,
    TimingPlan,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from grader.grading.assignment.draft import Draft
    from grader.model import Named

    _Reader = Callable[[bytes], tuple[Named[Named[str]], list[feedback.Problem]]]
    from collections.abc import Collection

    from grader.grading.assignment.draft import AnyCasePart
    from grader.grading.assignment.fields import ParameterDeclaration
    from grader.grading.assignment.structure import KernelPart, ProgramFile, RunPart, TimingPart
    from grader.model import Named

MAX_HEADER_BYTES = 256 * 1024
"""The largest header that an assignment may ship."""


def load_assignment(path: Path) -> Assignment:
    """The assignment in the folder ``path``, or in the file ``path``.

    Raises `SpecError` with every problem as ``file:line:column: dotted.path: message``, in the order of the
    file.
    """
    file = path / FILE_NAME if path.is_dir() else path
    content = _content_of(file)
    try:
        root, problems = document.read_document(content)
    except UnreadableDocument as refused:
        raise SpecError((_line(file, refused.position, "", refused.message),)) from None
    parts, flaws = draft.read_draft(document.plain(root))
    beside = _FilesBeside.of(file, parts)
    flaws += [*launch_flaws(parts), *question_flaws(parts), *beside.flaws]
    flaws += cross_check_flaws(parts, beside.kernels, has_oracle=beside.has_oracle)
    if problems or flaws or beside.feedback.problems or parts.whole is None:
        problems += [(*document.locate(root, flaw), flaw.message) for flaw in flaws]
        lines = [_line(file, *problem) for problem in sorted(problems)]
        raise SpecError((*lines, *beside.feedback.problems))
    return assignment_record(
        parts.whole,
        beside.headers,
        beside.kernels or (),
        file.resolve().parent,
        _digest(content, beside),
        _digested(beside.reference_files),
        beside.feedback.texts,
    )


def _content_of(file: Path) -> bytes:
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
    where = f":{position.line}:{position.column}" if position else ""
    line = f"{file}{where}: {dotted}: {message}" if dotted else f"{file}{where}: {message}"
    # Texts of the file are in it: a message stays one line, and does nothing to a terminal.
    return escaped(line, len(line))


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or "no such path"


# --- what belongs to an assignment but is not in its file ---------------------------------------------


@frozen
class _Feedback:
    """Texts about mistakes, the files that they are from, and a line for each problem in them."""

    texts: Named[Named[str]] = ()
    files: tuple[tuple[str, bytes], ...] = ()
    problems: tuple[str, ...] = ()

    def overridden_by(self, over: _Feedback) -> _Feedback:
        """These texts and others, which win."""
        texts = feedback.merged(self.texts, over.texts)
        return _Feedback(texts, (*self.files, *over.files), (*self.problems, *over.problems))


@frozen
class _FilesBeside:
    """The headers and the reference that the file names, as far as they are there."""

    headers: tuple[tuple[str, bytes], ...]
    reference: Path | None
    staff: tuple[Path, ...]
    """Folders of the staff's kernels."""
    flaws: tuple[Flaw, ...]
    feedback: _Feedback = _Feedback()

    @classmethod
    def of(cls, file: Path, parts: Draft) -> _FilesBeside:
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
            hint = suggestion(parts.reference, reference_names(folder))
            flaws.append(Flaw(("reference",), f"there is no folder reference/{parts.reference}; {hint}"))
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
        return written | recorded_kernels(self.staff)

    @property
    def reference_files(self) -> list[tuple[str, bytes]]:
        """The oracle and the staff's kernels."""
        return [file for folder in self.staff for file in _reference_files(folder)]

    @property
    def has_oracle(self) -> bool:
        """True if the reference can compute expected values."""
        return self.reference is not None and (self.reference / "oracle.py").is_file()


def _feedback(folder: Path, name: str) -> _Feedback | str:
    """Content of the course's file of texts, or why there is nothing to read."""
    content = _header(folder, name)
    if isinstance(content, str):
        return content
    operations = (locate_reference(operation, folder) for operation in reference_names(folder))
    others = feedback.mistakes_of(operation for operation in operations if operation)
    return _read_feedback(folder / name, name, content, partial(feedback.read, others=others))


def _operation_feedback(reference: Path | None) -> _Feedback:
    """Content of the file with the texts of the operation's mistakes, if there is one."""
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
    except UnreadableDocument as refused:
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


def _digest(content: bytes, beside: _FilesBeside) -> str:
    """SHA-256 over all that decides a grade: the file, what it names beside it, and the reference."""
    named_files = (*beside.headers, *beside.feedback.files)
    return _digested((("assignment", content), *named_files, *beside.reference_files))


def _digested(parts: Iterable[tuple[str, bytes]]) -> str:
    digest = sha256()
    for label, part in parts:
        digest.update(f"{label}\0{len(part)}\0".encode())
        digest.update(part)
    return digest.hexdigest()


def _reference_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The oracle and the kernels of a folder; mistakes decide no grade."""
    for file in sorted((*folder.glob("*.py"), *folder.glob("*.cu"), *folder.glob(BASELINES_FILE))):
        if not file.name.startswith("."):
            yield f"reference/{folder.name}/{file.name}", file.read_bytes()


# --- a sound file → the records of `grader.model` ----------------------------------------------------

_MEBIBYTE = 2**20


def assignment_record(
    file: KernelFile | ProgramFile | FunctionFile | AnswersFile,
    headers: tuple[tuple[str, bytes], ...],
    kernels: Collection[str],
    folder: Path,
    digest: str,
    reference_digest: str = "",
    feedback: Named[Named[str]] = (),
) -> Assignment:
    """The record of a sound file; ``headers`` are UTF-8, ``kernels`` those of the reference."""
    timing = file.timing if isinstance(file, KernelFile | FunctionFile) else None
    interface, plans = _interface_and_cases(file, headers)
    return Assignment(
        id=file.id,
        title=file.title,
        reference="" if isinstance(file, AnswersFile) else file.reference or "",
        interface=interface,
        cases=plans,
        rubric=tuple(item.record() for item in file.rubric),
        timing=_timing(timing, kernels) if timing else None,
        path=folder,
        digest=digest,
        reference_digest=reference_digest,
        feedback=feedback,
        advice=not isinstance(file, KernelFile | FunctionFile) or file.advice,
        undefined_outputs=OutputJudge.EMULATOR if isinstance(file, AnswersFile) else file.undefined_outputs,
    )


def _interface_and_cases(
    file: KernelFile | ProgramFile | FunctionFile | AnswersFile, headers: tuple[tuple[str, bytes], ...]
) -> tuple[KernelInterface | ProgramInterface | FunctionInterface | AnswersInterface, tuple[CasePlan, ...]]:
    """Interface of the submission that is asked for, and the cases."""
    if isinstance(file, AnswersFile):
        return answers_interface(file), question_cases(file)
    interface = _interface(file.submission, headers, _further_kernels(file))
    return interface, tuple(_plan(case, interface.built_with) for case in file.cases)


def _interface(
    part: KernelPart | ProgramPart | FunctionPart,
    headers: tuple[tuple[str, bytes], ...],
    others: tuple[str, ...],
) -> KernelInterface | ProgramInterface | FunctionInterface:
    include = tuple((name, content.decode()) for name, content in headers)
    if isinstance(part, ProgramPart):
        return replace(_run(part, include), sizes=tuple(part.sizes.items()))
    if isinstance(part, FunctionPart):
        parameters = tuple(_parameter(name, declared) for name, declared in part.parameters.items())
        return FunctionInterface(part.function, parameters, part.pointers, part.outputs, _run(part, include))
    return KernelInterface(
        kernel=part.kernel,
        parameters=tuple(_parameter(name, declared) for name, declared in part.parameters.items()),
        constants=tuple(constant.record(name) for name, constant in part.constants.items()),
        block=tuple(part.launch.block),
        grid=tuple(part.launch.grid),
        shared=part.launch.shared,
        include=include,
        symbols=tuple(_parameter(name, declared) for name, declared in part.symbols.items()),
        inline_asm=part.inline_asm,
        others=others,
        sizes=tuple((name, tuple(names)) for name, names in part.sizes.items()),
    )


def _run(part: RunPart, include: Named[str]) -> ProgramInterface:
    return ProgramInterface(
        include,
        float(part.seconds),
        part.memory * _MEBIBYTE,
        part.device_memory * _MEBIBYTE,
        float(part.emulator_seconds),
    )


def _further_kernels(file: KernelFile | ProgramFile | FunctionFile) -> tuple[str, ...]:
    """The kernels that cases name beside the submission's own."""
    if not isinstance(file, KernelFile):
        return ()
    named = dict.fromkeys(case.kernel for case in file.cases if case.kernel)
    return tuple(name for name in named if name != file.submission.kernel)


def _parameter(name: str, declared: ParameterDeclaration) -> Parameter:
    fields = tuple(_parameter(field, form) for field, form in declared.fields)
    is_number = declared.direction == "value" and not fields
    value = (declared.value or Name(name)) if is_number else None
    return Parameter(name, declared.direction, declared.dtype, declared.extents, value, fields)


def _plan(part: AnyCasePart, sizes: Named[int]) -> CasePlan:
    """A case; a program's has the assignment's ``sizes`` where it has none of its own."""
    if isinstance(part, ProgramCase):
        return CasePlan(
            part.id,
            tuple((name, (extent, extent)) for name, extent in part.shape.items()),
            tuple(part.tags),
            part.visibility,
            part.inputs if part.shape else "",
            arguments=tuple(part.arguments),
            stdin=part.stdin,
            files=tuple(part.files.items()),
            sizes=tuple({**dict(sizes), **part.sizes}.items()),
        )
    if isinstance(part, RandomCases):
        shape, draws = tuple(part.shape.items()), part.random
    else:
        shape, draws = tuple((name, (value, value)) for name, value in part.shape.items()), 0
    tags = tuple(part.tags)
    return CasePlan(
        part.id, shape, tags, part.visibility, part.inputs, draws, part.offset, kernel=part.kernel
    )


def _timing(part: TimingPart, kernels: Collection[str]) -> TimingPlan:
    solution = part.solution or (SOLUTION if SOLUTION in kernels else "")
    shape = tuple(part.shape.items())
    return TimingPlan(shape, part.baseline, solution, part.inputs, part.budget, part.estimate_for)
