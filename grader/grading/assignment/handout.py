"""Files of an assignment that a student may have, and no others.

    assignments/<id>/   assignment.yaml (visible cases and items), README.md, skeleton, headers, texts
    reference/<operation>/oracle.py         computes expected values; holds no kernel
    reference/<operation>/hypotheses.py     what mistakes of the operation make of its inputs
    reference/<operation>/feedback.yaml     what students read about them
    reference/<operation>/<id>/baselines.json   what the staff's kernels moved, in place of the kernels

`grader export-student` writes these files of any assignment, and a wheel holds them of the bundled ones. The
assignment file is written anew from what was read, so that no comment of the staff's comes along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import yaml

from grader.base.errors import StorageError, UsageError
from grader.grading.assignment import document
from grader.grading.assignment.bundled import BASELINES_FILE, FILE_NAME, reference_folder, write_counters

if TYPE_CHECKING:
    from pathlib import Path

    from grader.grading.assignment.bundled import Baselines
    from grader.grading.assignment.document import Plain
    from grader.model import Assignment, KernelEstimate, Named


SHARED = ("oracle.py", "hypotheses.py", "feedback.yaml")
"""Files of an operation's folder that students may have."""


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
        files[f"{folder}/{assignment.id}/{BASELINES_FILE}"] = baselines.encode()
    return files


def baselines_text(
    assignment: Assignment, baselines: Baselines, estimates: Named[KernelEstimate] = ()
) -> str:
    """Counters of the staff's kernels that the assignment names, case by case, and the baseline's times."""
    named = {str(dict(item.options).get("baseline", "")) for item in assignment.rubric}
    timing = assignment.timing
    kernels = (named | ({timing.baseline, timing.solution} if timing else set())) - {""}
    return write_counters(kernels, baselines, estimates)


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
    if not interface.asks_questions:  # else it holds the answers
        content = (assignment.path / FILE_NAME).read_bytes()
        files[FILE_NAME] = visible_part(content).encode()
        texts = named_texts(content)
        if texts:
            files[texts] = (assignment.path / texts).read_bytes()
    return {f"assignments/{assignment.id}/{name}": content for name, content in files.items()}


Entry: TypeAlias = "dict[str, Plain]"

# --- the part of an assignment file that students may have -------------------------------------------

WIDTH = 110
SHORT = 100
"""Characters of a mapping or list that stays on one line."""

VISIBLE = "visible"


def visible_part(content: bytes) -> str:
    """A sound file's YAML text without hidden cases and items, and without whatever names them.

    An item that looks at hidden cases alone goes, too; from the others' ``cases`` and ``needs`` go the names
    of what is gone. Where no `speedup` item is left ``timing`` goes. The same bytes give the same text.
    """
    root, _ = document.read_document(content)
    data = document.plain(root)
    if not isinstance(data, dict):
        raise TypeError("a sound assignment is a mapping")
    cases = [case for case in _entries(data, "cases") if _is_visible(case)]
    names = {name for case in cases for name in _names_of_case(case)}
    items = [_item_without_hidden(item, names) for item in _entries(data, "rubric") if _is_visible(item)]
    kept = [item for item in items if item.get("cases") != []]
    ids = {str(item["id"]) for item in kept}
    for item in kept:
        _keep_names(item, "needs", ids)
    data = {**data, "cases": [*cases], "rubric": [*kept]}
    if not any(item.get("check") == "speedup" for item in kept):
        data.pop("timing", None)
    return _as_yaml(data)


def named_texts(content: bytes) -> str:
    """The file of texts about mistakes that a sound assignment names; empty where it names none."""
    data = document.plain(document.read_document(content)[0])
    return str(data.get("feedback") or "") if isinstance(data, dict) else ""


def _entries(data: Entry, key: str) -> list[Entry]:
    listed = data.get(key)
    return [dict(entry) for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []


def _is_visible(entry: Entry) -> bool:
    return entry.get("visibility", VISIBLE) == VISIBLE


def _names_of_case(case: Entry) -> list[str]:
    """Names that a rubric item may use for a case: its id, those of the cases drawn for it, and its tags."""
    case_id = str(case.get("id", "random"))
    drawn = [f"{case_id}-{number}" for number in range(1, int(str(case.get("random", 0))) + 1)]
    return [case_id, *drawn, *_as_strings(case.get("tags"))]


def _item_without_hidden(item: Entry, names: set[str]) -> Entry:
    """An item without the names of cases that are gone; an empty list where it looked at none but those."""
    changed = dict(item)
    if item.get("cases"):
        changed["cases"] = [name for name in _as_strings(item["cases"]) if name in names]
    return changed


def _keep_names(item: Entry, key: str, names: set[str]) -> None:
    """Leave in a list of names those that are still there, and no list where none is."""
    if key in item:
        left = [name for name in _as_strings(item[key]) if name in names]
        if left:
            item[key] = [*left]
        else:
            del item[key]


def _as_strings(value: Plain) -> list[str]:
    if isinstance(value, list):
        return [str(entry) for entry in value]
    return [] if value is None else [str(value)]


def _as_yaml(data: Plain) -> str:
    """YAML text; numbers stand without quotes, short mappings on one line."""
    text: str = yaml.serialize(
        _yaml_node(data, top=True), Dumper=yaml.SafeDumper, width=WIDTH, allow_unicode=True
    )
    return text


def _yaml_node(value: Plain, *, top: bool = False) -> yaml.Node:
    if value is None:
        return _scalar("null")
    if isinstance(value, str):
        quoted = value in document.NULLS  # without quotes it would be nothing at all
        return yaml.ScalarNode("tag:yaml.org,2002:str", value, style='"') if quoted else _scalar(value)
    if isinstance(value, dict):
        pairs = [(_scalar(key), _yaml_node(entry)) for key, entry in value.items()]
        return yaml.MappingNode("tag:yaml.org,2002:map", pairs, flow_style=not top and _is_short(value))
    return yaml.SequenceNode(
        "tag:yaml.org,2002:seq", [_yaml_node(entry) for entry in value], flow_style=_is_short(value)
    )


def _scalar(value: str) -> yaml.ScalarNode:
    """A text as a person would write it: without quotes wherever YAML can do without."""
    tag = yaml.resolver.Resolver().resolve(yaml.ScalarNode, value, (True, False))  # type: ignore[no-untyped-call]
    return yaml.ScalarNode(tag, value)


def _is_short(value: Plain) -> bool:
    return len(str(value)) <= SHORT
