"""`grader export-student`: what a student may have of an assignment, and nothing else.

    DIR/assignments/<id>/   assignment.yaml (visible cases and items), README.md, skeleton, headers, texts
    DIR/reference/<operation>/oracle.py         computes expected values; holds no kernel
    DIR/reference/<operation>/<id>/baselines.json   what the staff's kernels moved, in place of the kernels

`grader check DIR/assignments/<id> my.cu` then gives the verdicts that it gives with the staff's files.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli import arguments, setup
from grader.errors import StorageError, UsageError
from grader.model import KernelInterface, ProgramInterface
from grader.spec import reference_folder

if TYPE_CHECKING:
    import argparse

    from grader.build import Tools
    from grader.model import Assignment

FILE_NAME = "assignment.yaml"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after the command."""
    parser.add_argument("assignment", metavar="ASSIGNMENT", help=arguments.ASSIGNMENT)
    parser.add_argument(
        "folder", metavar="DIR", type=Path, help="where the files go; made if it is not there"
    )
    parser.set_defaults(sandbox="local")
    arguments.add_toolchain(parser)


def run(options: argparse.Namespace) -> int:
    """Write the files, and say how a student checks with them."""
    assignment = setup.assignment(options)
    files = {
        **_folder(assignment),
        **_reference(assignment, setup.tools(options) if _is_kernel(assignment) else None),
    }
    _refuse_to_overwrite(options.folder, files)
    for name, content in sorted(files.items()):
        _write(options.folder / name, content)
    folder = options.folder / "assignments" / assignment.id
    console = setup.console()
    console.print(f"{len(files)} files in {options.folder}; nothing hidden, no solution, no seed among them")
    if (folder / FILE_NAME).is_file():
        console.print(f"students check with: grader check {folder} FILE")
    else:
        console.print(
            f"the answers are left out; sheets come from: grader questions {assignment.id} --student ID"
        )
    return 0


def _is_kernel(assignment: Assignment) -> bool:
    return isinstance(assignment.interface, KernelInterface)


def _folder(assignment: Assignment) -> dict[str, bytes]:
    """The assignment's own folder: README, skeleton, what it ships, and the visible part of the file."""
    interface = assignment.interface
    include = getattr(interface, "include", ())
    named = [assignment.path / "README.md", *sorted(assignment.path.glob("skeleton.*"))]
    files = {file.name: file.read_bytes() for file in named if file.is_file()}
    files |= {name: text.encode() for name, text in include}
    if isinstance(interface, KernelInterface | ProgramInterface):  # else it holds the answers
        from grader.spec import student  # noqa: PLC0415 - no other command needs it

        content = (assignment.path / FILE_NAME).read_bytes()
        files[FILE_NAME] = student.visible_part(content).encode()
        texts = student.named_texts(content)
        if texts:
            files[texts] = (assignment.path / texts).read_bytes()
    return {f"assignments/{assignment.id}/{name}": content for name, content in files.items()}


def _reference(assignment: Assignment, tools: Tools | None) -> dict[str, bytes]:
    """The oracle, and the counters of the staff's kernels for the visible cases that `check` draws."""
    if not assignment.reference:
        return {}
    oracle = reference_folder(assignment) / "oracle.py"
    folder = f"reference/{assignment.reference}"
    files = {f"{folder}/oracle.py": oracle.read_bytes()} if oracle.is_file() else {}
    if tools is not None:
        from grader import pipeline  # noqa: PLC0415 - programs are compared with no kernel
        from grader.spec.counters import FILE_NAME as COUNTERS  # noqa: PLC0415
        from grader.spec.counters import write_counters  # noqa: PLC0415

        plan = pipeline.make_plan(assignment, setup.PUBLIC_SEED, tools, visible_only=True)
        text = write_counters(_kernels(assignment), plan.baselines)
        files[f"{folder}/{assignment.id}/{COUNTERS}"] = text.encode()
    return files


def _kernels(assignment: Assignment) -> set[str]:
    """The staff's kernels that the assignment names."""
    named = {str(dict(item.options).get("baseline", "")) for item in assignment.rubric}
    timing = assignment.timing
    return (named | ({timing.baseline, timing.solution} if timing else set())) - {""}


def _refuse_to_overwrite(folder: Path, files: dict[str, bytes]) -> None:
    """Nothing that is there is written over, unless it is the same already."""
    for name, content in sorted(files.items()):
        file = folder / name
        if file.exists() and (not file.is_file() or file.read_bytes() != content):
            raise UsageError(f"{file} is there already, with other content; give a folder without it")


def _write(file: Path, content: bytes) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    except OSError as problem:
        raise StorageError(f"{file}: cannot be written: {problem.strerror}") from None
