"""``result.json``: what is known so far, whole at any moment."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from case import Record

ANSWER = "result.json"
LONGEST = 900
"""Most characters of a message; a library may quote much in one."""


class Results:
    """Written beside and renamed at every change, so that a process that is killed leaves what was known."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / ANSWER
        self._cases: dict[int, Record] = {}
        self.device: dict[str, Any] | None = None
        self.health = "ok"
        self.resources: dict[str, Any] = {}
        self.timing: dict[str, Any] | None = None
        self.seconds: dict[str, float] = {}
        self.error = ""

    def begin(self, at: int, name: str) -> None:
        """A case begins. Until something else is said it is lost: that is what a killed process leaves."""
        self._cases[at] = {"name": name, "state": "lost", "message": "the process ended during this case"}

    def add(self, at: int, record: Record) -> None:
        """More is known of a case."""
        self._cases[at] |= {
            key: value[:LONGEST] if isinstance(value, str) else value for key, value in record.items()
        }
        if self._cases[at]["state"] != "lost" and "message" not in record:
            self._cases[at].pop("message", None)

    def done(self, cases: Mapping[int, str]) -> None:
        """Cases, by number with their names, came to their end."""
        self._cases |= {at: {"name": name, "state": "done"} for at, name in cases.items()}

    def state(self, at: int) -> str:
        """The state of a case, empty for one that has not begun."""
        return str(self._cases[at]["state"]) if at in self._cases else ""

    def all_done(self, besides: Collection[int] = ()) -> bool:
        """True if every case that began, ``besides`` some, came to its end, and nothing was wrong."""
        done = all(record["state"] == "done" for at, record in self._cases.items() if at not in besides)
        return done and self.health == "ok" and not self.error

    def write(self) -> None:
        """Replace the file."""
        content = {
            "format": 1,
            "device": self.device,
            "health": self.health[:LONGEST],
            "cases": [self._cases[at] for at in sorted(self._cases)],
            "resources": self.resources,
            "timing": self.timing,
            "seconds": self.seconds,
            "error": self.error[:LONGEST],
        }
        beside = self._path.with_suffix(".new")
        beside.write_text(to_json(content), encoding="utf-8")
        beside.replace(self._path)


def to_json(content: object) -> str:
    """JSON of plain values and NumPy's; raises ValueError for a number that is not finite."""
    return json.dumps(content, allow_nan=False, default=_plain)


def _plain(value: object) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} does not go into JSON")
