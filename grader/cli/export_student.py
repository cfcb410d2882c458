"""`grader export-student`: what a student may have of an assignment, and nothing else.

`grader check DIR/assignments/<id> my.cu` then gives the verdicts that it gives with the staff's files. What
`--image` adds is in `workspace/` beside this file: a container for an editor, and its tasks.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli import setup
from grader.grading.assignment import handout
from grader.grading.assignment.bundled import FILE_NAME
from grader.kinds import kind_of

if TYPE_CHECKING:
    import argparse

    from grader.model import Assignment

WORKSPACE = Path(__file__).parent / "workspace"
IMAGE = "cuda-grader"
"""The image that the container of the workspace names: as `make image` calls it."""


def run(options: argparse.Namespace) -> int:
    """Write the files, and say how a student checks with them."""
    assignment = setup.staff_assignment(options)
    setup.require_folder(options.folder)
    files = handout.handout_files(assignment, _baselines(options, assignment))
    if options.image:
        files |= workspace_files(options.image)
    handout.write_files(options.folder, files)
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


def workspace_files(image: str) -> dict[str, bytes]:
    """Editor settings, by file name: the same for all assignments, which have folders of their own."""
    container = (WORKSPACE / "devcontainer.json").read_text(encoding="utf-8")
    return {
        ".devcontainer/devcontainer.json": container.replace(f'"{IMAGE}"', f'"{image}"').encode(),
        ".vscode/tasks.json": (WORKSPACE / "tasks.json").read_bytes(),
    }


def _baselines(options: argparse.Namespace, assignment: Assignment) -> str:
    """Traffic of the staff's kernels or programs on the visible cases that `check` draws, if requested.

    Of functions and kernels whose speed counts it holds the baseline's estimated times.
    """
    kind = kind_of(assignment)
    has_baseline = any("baseline" in dict(item.options) for item in assignment.rubric)
    if not assignment.reference or not (kind.has_kernels or has_baseline):
        return handout.baselines_text(assignment, ()) if assignment.timing else ""
    from grader.kinds import pipeline  # noqa: PLC0415 - loads the emulator

    tools = setup.tools(options)
    plan = pipeline.make_plan(assignment, setup.PUBLIC_SEED, tools, visible_only=True)
    if not kind.is_estimated:
        return handout.baselines_text(assignment, plan.baselines)
    from grader.kinds.estimating import baseline_estimates  # noqa: PLC0415 - loads the emulator

    return handout.baselines_text(assignment, plan.baselines, baseline_estimates(plan, tools))
