"""Stored files with deliberate changes and fitting checksums, and as older versions wrote them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from grader.model.seals import sealed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from grader.classroom.batch import OutFolder

_SEAL = re.compile(r'(?m)^\{"checksum":"[0-9a-f]{8}",')
_PAGE_SEAL = re.compile(r"(?:<!-- of [0-9a-f]{8} -->\n)?<!-- checksum [0-9a-f]{8} -->\n\Z")


def resealed(stored: dict[str, Any]) -> str:
    """The text of a stored object that was changed, with the checksum that fits."""
    return sealed(json.dumps({name: value for name, value in stored.items() if name != "checksum"}))


def changed(path: Path, change: Callable[[str], str]) -> None:
    """Change the objects of a file, one in each line, and write the checksums that fit."""
    lines = change(_SEAL.sub("{", path.read_text(encoding="utf-8"))).splitlines()
    ends = "\n" if path.suffix == ".json" else ""  # of which a record's is in its checksum
    text = "\n".join(sealed(line + ends).removesuffix("\n") for line in lines) + "\n"
    path.write_text(text, encoding="utf-8")


def changed_record(out: OutFolder, name: str, change: Callable[[str], str]) -> None:
    """Change the record of a grade as `changed` does, and have the journal of a whole class vouch for it."""
    changed(out.record_path(name), change)
    entry, names = out.journal().vouched[name], out.state().names
    out.note(name, entry.digest, entry.verdict, entry.kept)
    out.note_class(names)


def made_older(out: Path) -> None:
    """Make of a graded folder what grader 0.1.0 would have written: nothing in it has a checksum."""
    journal = out / "journal.jsonl"
    entries = [json.loads(line) for line in _SEAL.sub("{", journal.read_text()).splitlines()]
    for entry in entries:
        entry.pop("format_version", None)
        entry.pop("kept", None)
        entry.pop("number", None)
    kept = [entry for entry in entries if not entry.keys() & {"files", "begins"}]
    journal.write_text("".join(f"{json.dumps(entry)}\n" for entry in kept))
    for record in out.glob("grades/*/record.json"):
        record.write_text(
            _SEAL.sub("{", record.read_text()).replace('"format_version":2', '"format_version":1', 1)
        )
    for page in out.glob("grades/*/report.html"):
        page.write_text(_PAGE_SEAL.sub("", page.read_text()))
