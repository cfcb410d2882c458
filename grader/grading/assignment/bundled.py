"""Location of assignments and their references: in the package, in a clone, or at a given path.

Users who may not have the staff's kernels have their counters, written down. `grader export-student` writes
``reference/<operation>/<id>/baselines.json``:

    {"kernels": ["naive"], "cases": {"square-64": {"naive": {"global_load_bytes": 2097152, …}}}}

Where that file exists, no staff kernel is built: traffic is compared with these numbers, and nothing is
timed.
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.base.data_files import data_root, package_data, with_slashes
from grader.base.errors import UsageError
from grader.base.text import did_you_mean, escaped
from grader.model import Counters, KernelEstimate, LimitShare

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.model import Assignment, Named

    Baselines = Named[Named[Counters]]

FILE_NAME = "assignment.yaml"

SOLUTION = "solution"
"""Name of the model solution's file, without `.cu`."""

IN_A_CLONE = "clone the repository and name the folder in it, such as assignments/tiled-matmul"
"""Advice where files of the staff's are needed and only the package is installed."""


def require_staff_files(assignment: Path) -> None:
    """Raise UsageError for an assignment in an installed package, which has what students have."""
    folder = assignment if assignment.is_dir() else assignment.parent
    if folder.resolve().is_relative_to(package_data()):
        raise UsageError(
            f"`{folder.name}` is installed as students have it, without hidden cases and solutions; "
            f"{IN_A_CLONE}"
        )


def bundled_ids() -> tuple[str, ...]:
    """The ids of the assignments that come with the grader."""
    files = (data_root() / "assignments").glob(f"*/{FILE_NAME}")
    return tuple(sorted(file.parent.name for file in files))


def own_path(assignment: Assignment) -> str:
    """The absolute path of an assignment, for a record; empty for a bundled one, which its id names."""
    path = assignment.path.resolve()
    folder = path.parent if path.name == FILE_NAME else path
    bundled = (data_root() / "assignments" / assignment.id).resolve()
    return "" if folder == bundled else str(path)


def recorded_assignment(name: str, path: str) -> Path:
    """The assignment that a record speaks of, by its id and by what `own_path` gave.

    Whoever can put a folder into the working folder could call it like the assignment: the id is no path.
    Raises `UsageError` where it is not there.
    """
    if not path and name in bundled_ids():
        return find_assignment(name)
    if not path:
        raise UsageError(
            f"`{escaped(name)}` is no bundled assignment, and the record does not say where it is"
        )
    try:
        if Path(path).is_file() or (Path(path) / FILE_NAME).is_file():
            return Path(path)
    except (OSError, ValueError):
        pass
    raise UsageError(f"{escaped(path)}: is gone, from which `{escaped(name)}` was graded")


def _without_file() -> frozenset[str]:
    """The assignments of an installed package that are there without their file, which holds answers."""
    folders = (data_root() / "assignments").glob("*/README.md")
    return frozenset(file.parent.name for file in folders) - {*bundled_ids()}


def find_assignment(name: str) -> Path:
    """The assignment's folder (or file), from the id of a bundled one or a path to a folder or file.

    Raises `UsageError` that lists the bundled ids where there is no such thing.
    """
    if name in bundled_ids():
        return data_root() / "assignments" / name
    path = Path(name)
    near = ""
    try:
        if path.is_file() and path.suffix.lower() not in (".yaml", ".yml"):
            shown = escaped(name)
            raise UsageError(f"`{shown}` is not an assignment; the assignment comes first, then the file")
        if path.is_file() or (path / FILE_NAME).is_file():
            return path
        if ((here := with_slashes(path)) / FILE_NAME).is_file():
            near = f"did you mean `{escaped(str(here))}`?"
    except (OSError, ValueError):
        pass  # too long or with a NUL byte: no path, and said so below
    if name in _without_file():
        raise UsageError(
            f"the file of `{name}` holds its answers, so students do not have it: your course hands out your "
            f"sheet; staff {IN_A_CLONE}"
        )
    near = near or did_you_mean(name, bundled_ids())
    ids = ", ".join(bundled_ids()) or "none"
    raise UsageError(
        f"no assignment `{escaped(name)}`: expected one of the bundled ones ({ids}) "
        f"or a path to a folder with an {FILE_NAME}{f'; {near}' if near else ''}"
    )


def reference_folder(assignment: Assignment) -> Path:
    """The staff's folder ``reference/<operation>`` of a loaded assignment.

    Raises `UsageError` where it has gone since, and where the assignment names none.
    """
    folder = locate_reference(assignment.reference, assignment.path)
    if not assignment.reference:
        raise UsageError(f"the assignment `{assignment.id}` names no reference")
    if folder is None:
        raise UsageError(f"the folder reference/{assignment.reference} of `{assignment.id}` is gone")
    return folder


def staff_folder(assignment: Assignment) -> Path:
    """Folder of the staff's model solution, and of the folder ``mistakes/`` of this assignment.

    ``reference/<operation>/<id>`` if several assignments share an operation, else ``reference/<operation>``;
    ``reference/<id>`` for a program that names no operation. Raises `UsageError` where there is none.
    """
    folders = staff_folders(assignment.reference, assignment.id, assignment.path)
    if not folders:
        raise UsageError(f"the assignment `{assignment.id}` has no folder of the staff's in reference/")
    return folders[0]


def staff_kernel(assignment: Assignment, name: str) -> Path:
    """The staff's kernel ``<name>.cu``: the assignment's own, else that of its operation.

    Raises `UsageError` where there is none.
    """
    for folder in staff_folders(assignment.reference, assignment.id, assignment.path):
        if (folder / f"{name}.cu").is_file():
            return folder / f"{name}.cu"
    raise UsageError(f"the assignment `{assignment.id}` has no kernel {name}.cu in its reference")


def staff_folders(reference: str, name: str, folder: Path) -> tuple[Path, ...]:
    """Folders to search for the staff's files of assignment ``name`` in ``folder``: its own, then shared."""
    shared = locate_reference(reference, folder)
    specific = shared / name if shared else locate_reference(name, folder)
    return tuple(candidate for candidate in (specific, shared) if candidate and candidate.is_dir())


def locate_reference(reference: str, folder: Path) -> Path | None:
    """``reference/<operation>`` for an assignment in ``folder``: two up beside it, else the bundled one.

    None where there is no such folder, and for an assignment that names none.
    """
    if not reference:
        return None
    for root in (folder.resolve().parent.parent, data_root()):
        candidate = root / "reference" / reference
        if candidate.is_dir():
            return candidate
    return None


def reference_names(folder: Path) -> tuple[str, ...]:
    """The references that an assignment in ``folder`` could name."""
    roots = (folder.resolve().parent.parent, data_root())
    return tuple(sorted({path.name for root in roots for path in (root / "reference").glob("*/")}))


# --- counters of the staff's kernels that were written down --------------------------------------------

BASELINES_FILE = "baselines.json"
MAX_BASELINES_BYTES = 4 * 2**20
"""The largest file with counters that is read."""


def recorded_counters(assignment: Assignment) -> Baselines | None:
    """Counters that were written down for an assignment, by case and kernel; None where there are none.

    Raises UsageError where the file cannot be understood.
    """
    for folder in staff_folders(assignment.reference, assignment.id, assignment.path):
        if (folder / BASELINES_FILE).is_file():
            cases = _read_baselines(folder / BASELINES_FILE)["cases"]
            return tuple((case, _counters_in(folder, kernels)) for case, kernels in cases.items())
    return None


def recorded_kernels(folders: Iterable[Path]) -> frozenset[str]:
    """The kernels that counters were written down of, in any of these folders."""
    files = (folder / BASELINES_FILE for folder in folders)
    return frozenset(
        str(name) for file in files if file.is_file() for name in _read_baselines(file)["kernels"]
    )


def recorded_estimates(assignment: Assignment) -> Named[KernelEstimate]:
    """Estimates of the baseline's time that were written down, by device; empty where there are none.

    Raises UsageError where the file cannot be understood.
    """
    for folder in staff_folders(assignment.reference, assignment.id, assignment.path):
        file = folder / BASELINES_FILE
        if file.is_file():
            estimates = _read_baselines(file).get("estimates", {})
            return tuple((device, _estimate_in(file, estimate)) for device, estimate in estimates.items())
    return ()


def write_counters(
    kernels: Iterable[str], baselines: Baselines, estimates: Named[KernelEstimate] = ()
) -> str:
    """Text of the file; the same for the same counters and estimates of the baseline by device.

    An estimate's lines are left out: they refer to a file that students do not have.
    """
    cases = {
        case: {name: asdict(counters) for name, counters in kernel_counters}
        for case, kernel_counters in baselines
    }
    content: dict[str, Any] = {"kernels": sorted(kernels), "cases": cases}
    if estimates:
        content["estimates"] = {
            device: {
                "milliseconds": float(f"{estimate.milliseconds:.4g}"),
                "occupancy": estimate.occupancy,
                "limits": {limit.limit: round(limit.share, 3) for limit in estimate.limits},
            }
            for device, estimate in estimates
        }
    return json.dumps(content, indent=1) + "\n"


def _read_baselines(file: Path) -> dict[str, Any]:
    data: Any = None
    with suppress(OSError, ValueError, RecursionError):
        if file.stat().st_size <= MAX_BASELINES_BYTES:
            data = json.loads(file.read_text(encoding="utf-8"))
    if (
        isinstance(data, dict)
        and isinstance(data.get("kernels"), list)
        and isinstance(data.get("cases"), dict)
    ):
        return data
    raise UsageError(f"{file}: expected counters as `grader export-student` writes them")


def _estimate_in(file: Path, estimate: Any) -> KernelEstimate:  # noqa: ANN401 - whatever was in the file
    try:
        limits = tuple(LimitShare(str(name), float(share)) for name, share in estimate["limits"].items())
        milliseconds, occupancy = float(estimate["milliseconds"]), float(estimate["occupancy"])
    except (AttributeError, KeyError, TypeError, ValueError):
        raise UsageError(f"{file}: expected a time, an occupancy and limits by device") from None
    if not (milliseconds > 0 and math.isfinite(milliseconds)):
        raise UsageError(f"{file}: expected a time above 0")
    return KernelEstimate(milliseconds, limits, occupancy)


def _counters_in(folder: Path, kernels: Any) -> Named[Counters]:  # noqa: ANN401 - whatever was in the file
    try:
        return tuple(
            (str(name), Counters(**{key: int(value) for key, value in counters.items()}))
            for name, counters in kernels.items()
        )
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise UsageError(f"{folder / BASELINES_FILE}: expected whole numbers by counter") from None
