"""The staff's files of an assignment: model solution, mistakes, explained mutants, skeleton."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from grader.assignment import staff_folder
from grader.errors import UsageError
from grader.validation.records import Explained, Staff, StaffMistake

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Assignment

TABLE, EQUIVALENT = "mistakes.yaml", "equivalent.yaml"
SUFFIXES = (".cu", ".yaml", ".yml", ".json")
"""What may be handed in: a source file, or a file of answers."""

_KEYS = {"title", "wrong", "loses"}


def read_staff(assignment: Assignment) -> Staff:
    """Read them all.

    Raises:
        UsageError: there is no model solution, or a table cannot be understood; says which line or entry.

    """
    folder = staff_folder(assignment)
    solution = _solution(assignment, folder)
    mistakes = folder / "mistakes"
    table = _mapping(mistakes / TABLE)
    files = {path.name: path for path in sorted(mistakes.glob("*")) if _is_handed_in(path)}
    items = {item.id for item in assignment.rubric}
    problems = [
        f"{name}: lies in mistakes/, but {TABLE} does not name it" for name in files if name not in table
    ]
    problems += [
        f"{name}: {TABLE} names it, but there is no such file" for name in table if name not in files
    ]
    entries = {name: _entry(mistakes / TABLE, name, entry, items) for name, entry in table.items()}
    skeleton = next(iter(sorted(_home(assignment).glob("skeleton.*"))), None)
    return Staff(
        solution_file=solution.name,
        solution=solution.read_bytes(),
        skeleton=skeleton.read_bytes() if skeleton else b"",
        mistakes=tuple(
            StaffMistake(name, title, loses, files[name].read_bytes())
            for name, (title, loses) in entries.items()
            if name in files
        ),
        explained=_explained(mistakes / EQUIVALENT),
        problems=tuple(problems),
    )


def _home(assignment: Assignment) -> Path:
    return assignment.path if assignment.path.is_dir() else assignment.path.parent


def _solution(assignment: Assignment, folder: Path) -> Path:
    for suffix in SUFFIXES:
        path = folder / f"solution{suffix}"
        if path.is_file():
            return path
    raise UsageError(f"the assignment `{assignment.id}` has no model solution; expected {folder}/solution.cu")


def _is_handed_in(path: Path) -> bool:
    return path.suffix in SUFFIXES and path.name not in (TABLE, EQUIVALENT) and path.is_file()


def _entry(path: Path, name: str, entry: Any, items: set[str]) -> tuple[str, tuple[str, ...]]:  # noqa: ANN401 - YAML
    if not isinstance(entry, dict) or not set(entry) >= _KEYS or not isinstance(entry["loses"], list):
        raise UsageError(f"{path}: {name}: expected `title`, `wrong` and `loses`, a list of rubric items")
    unknown = [str(item) for item in entry["loses"] if item not in items]
    if unknown:
        raise UsageError(f"{path}: {name}: loses `{unknown[0]}`, which the rubric does not have")
    return str(entry["title"]), tuple(map(str, entry["loses"]))


def _explained(path: Path) -> tuple[Explained, ...]:
    explanations = _loaded(path) or []
    if not isinstance(explanations, list) or not all(
        _is_explanation(explanation) for explanation in explanations
    ):
        raise UsageError(f"{path}: expected a list of entries with `mutant` and `why`, both texts")
    return tuple(Explained(explanation["mutant"], explanation["why"]) for explanation in explanations)


def _is_explanation(entry: Any) -> bool:  # noqa: ANN401 - YAML
    texts = isinstance(entry, dict) and set(entry) == {"mutant", "why"}
    return texts and all(isinstance(text, str) and text.strip() for text in entry.values())


def _mapping(path: Path) -> dict[str, Any]:
    mapping = _loaded(path) or {}
    if not isinstance(mapping, dict) or not all(isinstance(name, str) for name in mapping):
        raise UsageError(f"{path}: expected a table of mistakes by file name")
    return mapping


def _loaded(path: Path) -> Any:  # noqa: ANN401 - YAML
    """What a file says; nothing where there is none."""
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"{path}: cannot be read: {problem}") from None
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise UsageError(f"{path}{where}: is no YAML: {getattr(problem, 'problem', problem)}") from None
