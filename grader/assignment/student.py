"""The part of an assignment file that students may have: visible cases and items, and nothing of the others.

The file is written anew from what was read, so that no comment of the staff's comes along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import yaml

from grader.assignment import document

if TYPE_CHECKING:
    from grader.assignment.document import Plain

Entry: TypeAlias = "dict[str, Plain]"

WIDTH = 110
SHORT = 100
"""Characters of a mapping or list that stays on one line."""

VISIBLE = "visible"


def visible_part(content: bytes) -> str:
    """A sound file's YAML text without hidden cases and items, and without whatever names them.

    An item that looks at hidden cases alone goes, too; from the others' ``cases`` and ``needs`` go the names
    of what is gone. Where no `speedup` item is left ``timing`` goes. The same bytes give the same text.
    """
    root, _ = document.read(content)
    data = document.plain(root)
    if not isinstance(data, dict):
        raise TypeError("a sound assignment is a mapping")
    cases = [case for case in _entries(data, "cases") if _is_visible(case)]
    known = {name for case in cases for name in _names(case)}
    items = [_item(item, known) for item in _entries(data, "rubric") if _is_visible(item)]
    kept = [item for item in items if item.get("cases") != []]
    ids = {str(item["id"]) for item in kept}
    for item in kept:
        _keep(item, "needs", ids)
    data = {**data, "cases": [*cases], "rubric": [*kept]}
    if not any(item.get("check") == "speedup" for item in kept):
        data.pop("timing", None)
    return _written(data)


def named_texts(content: bytes) -> str:
    """The file of texts about mistakes that a sound assignment names; empty where it names none."""
    data = document.plain(document.read(content)[0])
    return str(data.get("feedback") or "") if isinstance(data, dict) else ""


def _entries(data: Entry, key: str) -> list[Entry]:
    listed = data.get(key)
    return [dict(entry) for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []


def _is_visible(entry: Entry) -> bool:
    return entry.get("visibility", VISIBLE) == VISIBLE


def _names(case: Entry) -> list[str]:
    """What a rubric item may call a case: its id, those of the cases drawn for it, and its tags."""
    own = str(case.get("id", "random"))
    drawn = [f"{own}-{number}" for number in range(1, int(str(case.get("random", 0))) + 1)]
    return [own, *drawn, *_listed(case.get("tags"))]


def _item(item: Entry, known: set[str]) -> Entry:
    """An item without the names of cases that are gone; an empty list where it looked at none but those."""
    changed = dict(item)
    if item.get("cases"):
        changed["cases"] = [name for name in _listed(item["cases"]) if name in known]
    return changed


def _keep(item: Entry, key: str, known: set[str]) -> None:
    """Leave in a list of names those that are still there, and no list where none is."""
    if key in item:
        left = [name for name in _listed(item[key]) if name in known]
        if left:
            item[key] = [*left]
        else:
            del item[key]


def _listed(value: Plain) -> list[str]:
    if isinstance(value, list):
        return [str(each) for each in value]
    return [] if value is None else [str(value)]


def _written(data: Plain) -> str:
    """YAML text; numbers stand without quotes, short mappings on one line."""
    text: str = yaml.serialize(_node(data, top=True), Dumper=yaml.SafeDumper, width=WIDTH, allow_unicode=True)
    return text


def _node(value: Plain, *, top: bool = False) -> yaml.Node:
    if value is None:
        return _scalar("null")
    if isinstance(value, str):
        quoted = value in document.NULLS  # without quotes it would be nothing at all
        return yaml.ScalarNode("tag:yaml.org,2002:str", value, style='"') if quoted else _scalar(value)
    if isinstance(value, dict):
        pairs = [(_scalar(key), _node(each)) for key, each in value.items()]
        return yaml.MappingNode("tag:yaml.org,2002:map", pairs, flow_style=not top and _is_short(value))
    return yaml.SequenceNode(
        "tag:yaml.org,2002:seq", [_node(each) for each in value], flow_style=_is_short(value)
    )


def _scalar(value: str) -> yaml.ScalarNode:
    """A text as a person would write it: without quotes wherever YAML can do without."""
    tag = yaml.resolver.Resolver().resolve(yaml.ScalarNode, value, (True, False))  # type: ignore[no-untyped-call]
    return yaml.ScalarNode(tag, value)


def _is_short(value: Plain) -> bool:
    return len(str(value)) <= SHORT
