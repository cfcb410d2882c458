"""Gradescope's export, which says in ``submission_metadata.yml`` whose its folders are.

    submission_101:
      :submitters:
      - :name: Ada Lovelace
        :sid: '4711'
        :email: ada@example.edu
      :created_at: 2026-11-01 10:00:00 Z
      :score: 85.0
      :history: […]           # earlier attempts

The file is hostile: aliases are refused, tags mean nothing, and what is no text counts as absent.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml

from grader.base.errors import UsageError
from grader.base.text import escaped
from grader.classroom.course.entries import Entry, Level
from grader.grading.submission.items import Unusable
from grader.model import Student

if TYPE_CHECKING:
    from grader.grading.submission.items import Item

METADATA = "submission_metadata.yml"
MAX_METADATA_BYTES = 64 * 2**20
"""Size limit of the metadata, which holds every result of every attempt, too."""

MAX_DEPTH = 40
_FOLDER = re.compile(r"submission_\d+")
_MAX_TEXT = 1000
_PARSER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # the one in C is ten times as fast


def gradescope(level: Level) -> tuple[Entry, ...] | None:
    """The folders of the export; raises UsageError where its metadata cannot be read."""
    metadata = next((item for item in level.items if item.name == METADATA and not item.is_folder), None)
    folders = [item for item in level.items if item.is_folder and _FOLDER.fullmatch(item.name)]
    if metadata is None or not folders:
        return None
    records = _read(metadata)
    return tuple(_entry(item, records.get(item.name)) for item in folders)


def _read(item: Item) -> dict[str, object]:
    try:
        records = _plain(item.read(MAX_METADATA_BYTES, "a-list"))
    except Unusable as problem:
        raise UsageError(f"{problem}") from None
    except (yaml.YAMLError, ValueError):
        raise UsageError(
            f"`{METADATA}` is not the list that Gradescope writes; export the submissions again, or remove "
            "the file to grade the folders without names"
        ) from None
    return records if isinstance(records, dict) else {}


def _plain(content: bytes) -> object:
    """The document as dictionaries, lists and texts, regardless of its tags.

    Built from events, for PyYAML composes by recursion, which a hostile file makes run out of stack. Raises
    ValueError for an alias and for what is nested too deeply, and what PyYAML raises.
    """
    waiting: list[list[object]] = [[]]
    for event in yaml.parse(content, Loader=_PARSER):
        if isinstance(event, yaml.AliasEvent) or len(waiting) > MAX_DEPTH:
            raise ValueError("an alias, or nested too deeply")
        if isinstance(event, yaml.ScalarEvent):
            waiting[-1].append(event.value)
        elif isinstance(event, yaml.CollectionStartEvent):
            waiting.append([])
        elif isinstance(event, yaml.SequenceEndEvent):
            values = waiting.pop()
            waiting[-1].append(values)
        elif isinstance(event, yaml.MappingEndEvent):
            values = waiting.pop()
            pairs = zip(values[::2], values[1::2], strict=True)
            waiting[-1].append({key: value for key, value in pairs if isinstance(key, str)})
    return waiting[0][0] if waiting[0] else None


def _entry(item: Item, record: object) -> Entry:
    fields = record if isinstance(record, dict) else {}
    submitters = fields.get(":submitters")
    people = tuple(
        Student(name=_text(one, ":name"), sid=_text(one, ":sid"), email=_text(one, ":email"))
        for one in (submitters if isinstance(submitters, list) else [])
        if isinstance(one, dict)
    )
    history = fields.get(":history")
    earlier = len(history) if isinstance(history, list) else 0
    time = _text(fields, ":created_at")
    return Entry(
        item,
        item.name,
        item.name,
        item.name,
        people,
        attempt=str(earlier + 1) if earlier else "",
        attempts=earlier + 1,
        time=time,
        file=item.name,
    )


def _text(fields: dict[str, object], key: str) -> str:
    value = fields.get(key)
    return escaped(value, _MAX_TEXT) if isinstance(value, str) and value not in {"null", "~"} else ""
