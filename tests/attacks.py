"""The outcome that attacks.yaml expects of each cheat, and the differences of a grade from it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bundled import read_table

if TYPE_CHECKING:
    from collections.abc import Collection

FOLDER = Path(__file__).parents[1] / "sandbox" / "attacks"

_KEYS = {"tries", "harmless", "hurts_neighbours", "emulator", "gpu"}
_PARTS = {"loses", "may_lose", "finds"}


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected outcome of a file on one backend: items that it fails, and kinds among its findings."""

    loses: frozenset[str] = frozenset()
    may_lose: frozenset[str] = frozenset()
    finds: frozenset[str] = frozenset()

    def complaints(self, lost: Collection[str], kinds: Collection[str]) -> tuple[str, ...]:
        """Return the differences from the expected outcome, a line each."""
        differences = (
            ("keeps", self.loses - set(lost)),
            ("loses", set(lost) - self.loses - self.may_lose),
            ("has no finding of kind", self.finds - set(kinds)),
        )
        return tuple(f"{what} {name}" for what, names in differences for name in sorted(names))


def hurting_neighbours() -> tuple[str, ...]:
    """The attacks that are after whoever is graded beside them, by their files' names without suffix."""
    table = read_table(FOLDER / "attacks.yaml")
    return tuple(name.removesuffix(".cu") for name, entry in table.items() if entry.get("hurts_neighbours"))


def expectations(backend: str) -> dict[str, Expected]:
    """By file, the outcome that attacks.yaml expects on a backend; raises ValueError for an unknown key."""
    table: dict[str, dict[str, Any]] = read_table(FOLDER / "attacks.yaml")
    for name, entry in table.items():
        unknown = (set(entry) - _KEYS) | (set(entry[backend]) - _PARTS)
        if unknown or not entry.get("tries"):
            raise ValueError(f"attacks.yaml: {name}: {sorted(unknown) or 'it does not say what it tries'}")
    return {
        name: Expected(**{part: frozenset(names) for part, names in entry[backend].items()})
        for name, entry in table.items()
    }
