"""The attacks that come with the grader, as their tables describe them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from grader.base.errors import OurError
from grader.toolchain.sandbox import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = Path(__file__).parent
"""Folder of the attacks."""

BATTERIES = ("programs", "compile")
"""Folders below ``sandbox/attacks`` that have a table of host-code attacks."""

DOES_NOT_COMPILE, COMPILES = "does-not-compile", "compiles"
ENDS = frozenset({*(status.value for status in Status), DOES_NOT_COMPILE, COMPILES})
VERDICTS = ("pass", "fail", "error", "either")
SANDBOXES = ("docker", "bubblewrap")

_KEYS = {"tries", "ends", "verdict", "contained_by", "needs", "again", "as", "named", "link", "device"}
_NEEDED = {"tries", "ends", "verdict"}


@dataclass(frozen=True, slots=True)
class Attack:
    """A file that attacks; see the comments at the top of the tables for what each field means."""

    name: str
    battery: str
    path: Path
    tries: str
    ends: frozenset[str]
    verdict: str
    contained_by: tuple[str, ...] = SANDBOXES
    needs_gpu: bool = False
    again: bool = False
    is_kernel: bool = False
    named: str = ""
    is_link: bool = False
    device: tuple[tuple[str, str], ...] = ()
    """The attacks on the device, and what each is refused with; empty where the call alone is refused."""


def load_attacks(folder: Path | None = None) -> tuple[Attack, ...]:
    """All host-code attacks, in the order of their tables; raises OurError where a table is not sound."""
    root = folder or FOLDER
    return tuple(attack for battery in BATTERIES for attack in _table(root / battery))


def _table(folder: Path) -> tuple[Attack, ...]:
    file = folder / "attacks.yaml"
    try:
        entries: dict[str, dict[str, Any]] = yaml.safe_load(file.read_text("utf-8"))
    except (OSError, yaml.YAMLError) as problem:
        raise OurError(f"the table of attacks {file} cannot be read: {problem}") from None
    files = {path.name for path in folder.glob("*.cu")}
    if files != set(entries):
        raise OurError(f"{file} and its folder differ: {', '.join(sorted(files ^ set(entries)))}")
    return tuple(_attack(folder, name, entry) for name, entry in entries.items())


def _attack(folder: Path, name: str, entry: dict[str, Any]) -> Attack:
    ends, sandboxes = frozenset(entry.get("ends", ())), tuple(entry.get("contained_by", SANDBOXES))
    wrong = (
        *(set(entry) - _KEYS),
        *(_NEEDED - set(entry)),
        *(ends - ENDS),
        *(set(sandboxes) - set(SANDBOXES)),
        *({entry.get("verdict")} - set(VERDICTS)),
        *({entry.get("needs", "gpu")} - {"gpu"}),
        *({entry.get("as", "kernel")} - {"kernel"}),
    )
    if wrong or not ends or not sandboxes:
        raise OurError(f"{folder.name}/attacks.yaml: {name}: wrong or missing: {', '.join(map(str, wrong))}")
    return Attack(
        name=name.removesuffix(".cu"),
        battery=folder.name,
        path=folder / name,
        tries=entry["tries"],
        ends=ends,
        verdict=entry["verdict"],
        contained_by=sandboxes,
        needs_gpu="needs" in entry,
        again=entry.get("again") is True,
        is_kernel="as" in entry,
        named=entry.get("named", ""),
        is_link=entry.get("link") is True,
        device=tuple(entry.get("device", {}).items()),
    )


def markdown(attacks: Iterable[Attack]) -> str:
    """The table of `sandbox/README.md`: what each attack tries, how it may end, and who contains it."""
    rows = [
        "| attack | tries | ends by | grade | contained by |",
        "|---|---|---|---|---|",
        *(_row(attack) for attack in attacks),
    ]
    return "\n".join(rows) + "\n"


def _row(attack: Attack) -> str:
    ends = ", ".join(sorted(attack.ends))
    where = ", ".join(attack.contained_by) + (" (GPU)" if attack.needs_gpu else "")
    return f"| `{attack.battery}/{attack.name}` | {attack.tries} | {ends} | {attack.verdict} | {where} |"
