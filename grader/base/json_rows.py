"""JSON for readers: as many short members as fit share a line, so that a long document is seen at once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WIDTH = 120
"""Characters up to which members of a list or an object share a line."""


def rows(document: Any, margin: str = "") -> str:  # noqa: ANN401 - whatever JSON has
    """A document as JSON text, its lines after the first behind a margin; raises TypeError as `dumps`."""
    line = json.dumps(document, ensure_ascii=False)
    if not isinstance(document, dict | list) or len(margin) + len(line) <= WIDTH:
        return line
    deeper = margin + " "
    if isinstance(document, dict):
        members = [
            f"{json.dumps(key, ensure_ascii=False)}: {rows(value, deeper)}" for key, value in document.items()
        ]
    else:
        members = [rows(value, deeper) for value in document]
    filled = "\n".join(f"{deeper}{row}" for row in _shared(members, WIDTH - len(deeper)))
    return f"{line[0]}\n{filled}\n{margin}{line[-1]}"


def _shared(members: Iterable[str], width: int) -> Iterator[str]:
    """Lines of members, filled up to a width; a member of several lines shares none."""
    row = ""
    *rest, last = members
    for member in (*(f"{member}," for member in rest), last):
        if row and ("\n" in row + member or len(row) + 1 + len(member) > width):
            yield row
            row = ""
        row += f" {member}" if row else member
    yield row
