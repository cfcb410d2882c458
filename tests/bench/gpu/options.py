"""The command line of every experiment."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Options:
    """``folder`` takes all that is written; what is there already is not done again."""

    folder: Path
    quick: bool
    parts: tuple[str, ...]


def parse(
    description: str | None, parts: tuple[str, ...] = (), arguments: Sequence[str] | None = None
) -> Options:
    """Read FOLDER, `--quick` for a rehearsal and, of an experiment that has parts, `--part`."""
    reader = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    reader.add_argument("folder", metavar="FOLDER", type=Path, help="where results go; run again to go on")
    reader.add_argument("--quick", action="store_true", help="a rehearsal: the same on much less")
    if parts:
        reader.add_argument("--part", action="append", choices=parts, help="only this part; may be repeated")
    given = reader.parse_args(arguments)
    chosen = tuple(getattr(given, "part", None) or parts)
    return Options(given.folder.absolute(), bool(given.quick), chosen)
