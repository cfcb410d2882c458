"""What a student may have of an assignment, and nothing else.

    assignments/<id>/   assignment.yaml (visible cases and items), README.md, skeleton, headers, texts
    reference/<operation>/oracle.py         computes expected values; holds no kernel
    reference/<operation>/hypotheses.py     what mistakes of the operation make of its inputs
    reference/<operation>/feedback.yaml     what students read about them
    reference/<operation>/<id>/baselines.json   what the staff's kernels moved, in place of the kernels

`grader export-student` writes these files of any assignment, and a wheel holds them of the bundled ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.assignment import counters, student
from grader.assignment.bundled import FILE_NAME, reference_folder
from grader.errors import StorageError, UsageError
from grader.model import KernelInterface, ProgramInterface

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Assignment


SHARED = ("oracle.py", "hypotheses.py", "feedback.yaml")
"""What students may have of an operation's folder."""


def handout_files(assignment: Assignment, baselines: str = "") -> dict[str, bytes]:
    """The files by name; ``baselines`` is the text of `baselines_text` for an assignment with kernels."""
    files = _own_folder(assignment)
    if not assignment.reference:
        return files
    folder = f"reference/{assignment.reference}"
    for name in SHARED:
        file = reference_folder(assignment) / name
        if file.is_file():
            files[f"{folder}/{name}"] = file.read_bytes()
    if baselines:
        files[f"{folder}/{assignment.id}/{counters.FILE_NAME}"] = baselines.encode()
    return files


def baselines_text(assignment: Assignment, baselines: counters.Baselines) -> str:
    """What the staff's kernels that the assignment names moved, case by case."""
    named = {str(dict(item.options).get("baseline", "")) for item in assignment.rubric}
    timing = assignment.timing
    kernels = (named | ({timing.baseline, timing.solution} if timing else set())) - {""}
    return counters.write_counters(kernels, baselines)


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    """Write files by name into a folder; raises UsageError where another one is there already."""
    for name, content in sorted(files.items()):
        file = folder / name
        if file.exists() and (not file.is_file() or file.read_bytes() != content):
            raise UsageError(f"{file} is there already, with other content; give a folder without it")
    for name, content in sorted(files.items()):
        file = folder / name
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        except OSError as problem:
            raise StorageError(f"{file}: cannot be written: {problem.strerror}") from None


def _own_folder(assignment: Assignment) -> dict[str, bytes]:
    """The assignment's own folder: README, skeleton, what it ships, and the visible part of the file."""
    interface = assignment.interface
    include = getattr(interface, "include", ())
    named = [assignment.path / "README.md", *sorted(assignment.path.glob("skeleton.*"))]
    files = {file.name: file.read_bytes() for file in named if file.is_file()}
    files |= {name: text.encode() for name, text in include}
    if isinstance(interface, KernelInterface | ProgramInterface):  # else it holds the answers
        content = (assignment.path / FILE_NAME).read_bytes()
        files[FILE_NAME] = student.visible_part(content).encode()
        texts = student.named_texts(content)
        if texts:
            files[texts] = (assignment.path / texts).read_bytes()
    return {f"assignments/{assignment.id}/{name}": content for name, content in files.items()}
