"""Counters of the staff's kernels that were written down, for whoever may not have the kernels themselves.

`grader export-student` writes ``reference/<operation>/<id>/baselines.json``:

    {"kernels": ["naive"], "cases": {"square-64": {"naive": {"global_load_bytes": 2097152, …}}}}

Where it lies, no staff kernel is built: traffic is compared with these numbers, and nothing is timed.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from grader.assignment.bundled import staff_folders
from grader.errors import UsageError
from grader.model import Counters

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from grader.model import Assignment, Named

    Baselines = Named[Named[Counters]]

FILE_NAME = "baselines.json"
MAX_BYTES = 4 * 2**20


def recorded_counters(assignment: Assignment) -> Baselines | None:
    """By case and kernel what was written down for an assignment; None where nothing was.

    Raises UsageError where the file cannot be understood.
    """
    for folder in staff_folders(assignment.reference, assignment.id, assignment.path):
        if (folder / FILE_NAME).is_file():
            cases = _read(folder / FILE_NAME)["cases"]
            return tuple((case, _counters(folder, found)) for case, found in cases.items())
    return None


def recorded_kernels(folders: Iterable[Path]) -> frozenset[str]:
    """The kernels that counters were written down of, in any of these folders."""
    files = (folder / FILE_NAME for folder in folders)
    return frozenset(str(name) for file in files if file.is_file() for name in _read(file)["kernels"])


def write_counters(kernels: Iterable[str], baselines: Baselines) -> str:
    """The file's text; the same for the same counters."""
    cases = {case: {name: asdict(each) for name, each in found} for case, found in baselines}
    return json.dumps({"kernels": sorted(kernels), "cases": cases}, indent=1) + "\n"


def _read(file: Path) -> dict[str, Any]:
    held: Any = None
    with suppress(OSError, ValueError, RecursionError):
        if file.stat().st_size <= MAX_BYTES:
            held = json.loads(file.read_text(encoding="utf-8"))
    if (
        isinstance(held, dict)
        and isinstance(held.get("kernels"), list)
        and isinstance(held.get("cases"), dict)
    ):
        return held
    raise UsageError(f"{file}: expected counters as `grader export-student` writes them")


def _counters(folder: Path, found: Any) -> Named[Counters]:  # noqa: ANN401 - whatever was in the file
    try:
        return tuple(
            (str(name), Counters(**{key: int(value) for key, value in each.items()}))
            for name, each in found.items()
        )
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise UsageError(f"{folder / FILE_NAME}: expected whole numbers by counter") from None
