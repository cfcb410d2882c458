"""The staff's files of an assignment, as validation reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.authoring.validation import tables
from grader.authoring.validation.mistakes import (
    EQUIVALENT,
    FOLDER,
    SUFFIXES,
    TABLE,
    descriptions,
    mistake_sources,
    read_table,
)
from grader.authoring.validation.records import Explained, Staff, StaffMistake
from grader.base.errors import UsageError
from grader.grading.assignment import document, staff_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from grader.authoring.validation.mistakes import MistakeTable
    from grader.model import Assignment


def read_staff(assignment: Assignment) -> Staff:
    """Read them all.

    Raises:
        UsageError: there is no model solution, or a table cannot be understood; says which line or entry.

    """
    folder = staff_folder(assignment)
    solution = _solution(assignment, folder)
    table = read_table(folder)
    described = descriptions(table, {item.id for item in assignment.rubric})
    sources = mistake_sources(folder)
    skeleton = next(iter(sorted(_home(assignment).glob("skeleton.*"))), None)
    return Staff(
        solution_file=solution.name,
        solution=solution.read_bytes(),
        skeleton=skeleton.read_bytes() if skeleton else b"",
        mistakes=tuple(
            StaffMistake(name, title, loses, sources[name])
            for name, (title, loses) in described.items()
            if name in sources
        ),
        explained=_explained(folder / FOLDER / EQUIVALENT),
        problems=tuple(_problems(table, sources)),
    )


def _home(assignment: Assignment) -> Path:
    return assignment.path if assignment.path.is_dir() else assignment.path.parent


def _solution(assignment: Assignment, folder: Path) -> Path:
    for suffix in SUFFIXES:
        path = folder / f"solution{suffix}"
        if path.is_file():
            return path
    raise UsageError(f"the assignment `{assignment.id}` has no model solution; expected {folder}/solution.cu")


def _problems(table: MistakeTable, sources: Mapping[str, bytes]) -> Iterator[str]:
    """Inconsistencies of the folder with its table."""
    for name in sources:
        if name not in table.names:
            yield f"{name}: lies in {FOLDER}/, but {TABLE} does not name it"
    for name in table.names:
        if name not in sources:
            line = table.root.keys[name].line
            yield f"{name}: {TABLE} names it on line {line}, but there is no such file, and no `edits`"


def _explained(path: Path) -> tuple[Explained, ...]:
    root = tables.read(path)
    explanations: Any = document.plain(root) if root is not None else []
    if not isinstance(explanations, list) or not all(
        _is_explanation(explanation) for explanation in explanations
    ):
        raise UsageError(f"{path}: expected a list of entries with `mutant` and `why`, both texts")
    return tuple(Explained(explanation["mutant"], explanation["why"]) for explanation in explanations)


def _is_explanation(entry: Any) -> bool:  # noqa: ANN401 - YAML
    texts = isinstance(entry, dict) and set(entry) == {"mutant", "why"}
    return texts and all(isinstance(text, str) and text.strip() for text in entry.values())
