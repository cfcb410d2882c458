"""Check that a class has the same points each time on a GPU, racing kernels included.

`python -m tests.bench.gpu_class_again N TIMES [FOLDER]`

A class of N kernels for `tiled-matmul` (racing ones first, then the other mistakes, the sample class and
right ones) is graded TIMES times with one seed, each time with an empty cache and into an OUT folder of its
own in FOLDER, and what differs between the runs is printed as a table. Seconds, and what follows from
measured times, differ always: they are left out, but for the points of the item about speed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench.gpu import grading
from tests.bench.gpu.grading import ASSIGNMENT, MATMUL, ROOT
from tests.mistakes import mistake_file, mistake_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.bench.gpu.grading import Grade

SPEEDUP = "speedup"
MEASURED = frozenset({"seconds", "timing", "stages", "versions", "started", "finished"})
"""Keys of a grade that hold seconds, or what is made of them."""

RACING = (
    "no_first_barrier",
    "no_barriers",
    "no_second_barrier",
    "second_barrier_after_loop",
    "uninitialised_sum",
)


def sources(count: int) -> dict[str, bytes]:
    """A number of files: those that race come first, and right ones fill the class up."""
    files = [mistake_file(MATMUL / "mistakes" / f"{name}.cu") for name in RACING]
    files += sorted((ROOT / "tests/kernels/wrong" / ASSIGNMENT).glob("*.cu"))
    files += mistake_files(MATMUL / "mistakes")
    files += sorted((ROOT / "tests/sample_class").glob("*/*.cu"))
    named = {
        f"{path.parent.name}-{path.stem}.cu".replace("mistakes-", ""): path.read_bytes() for path in files
    }
    solution = (MATMUL / "solution.cu").read_bytes()
    right = {f"right-{number}.cu": solution + f"// {number}\n".encode() for number in range(count)}
    return dict(list((named | right).items())[:count])


def points(grade: Grade) -> dict[str, Any]:
    """The points of each item."""
    return {item["id"]: item["points"] for item in grade["items"]}


def without_times(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A part of a grade without what is measured in it, and without the item about speed."""
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items() if key not in MEASURED}
    if isinstance(value, list):
        kept = (part for part in value if not (isinstance(part, dict) and part.get("id") == SPEEDUP))
        return [without_times(part) for part in kept]
    return value


def differing_parts(one: Any, other: Any, path: str = "") -> Iterator[str]:  # noqa: ANN401 - JSON
    """Yield the paths at which two values differ, like ``items[2].message``."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            yield from differing_parts(one.get(key), other.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (part, another) in enumerate(zip(one, other, strict=True)):
            yield from differing_parts(part, another, f"{path}[{number}]")
    elif one != other:
        yield path


def table(runs: Sequence[Mapping[str, Grade]]) -> str:
    """A line for each submission that is not the same in all runs, and how many are."""
    lines = [
        "| submission | score of each run | items whose points differ | else differs |",
        "|---|---|---|---|",
    ]
    same = other_points = 0
    for name in sorted(runs[0]):
        grades = [run[name] for run in runs]
        items = sorted({item for item in points(grades[0]) if len({points(g).get(item) for g in grades}) > 1})
        plain = [without_times(grade) for grade in grades]
        parts = sorted({part for grade in plain[1:] for part in differing_parts(plain[0], grade)})
        if not items and not parts:
            same += 1
            continue
        other_points += bool(items)
        scores = ", ".join(str(grade["score"]) for grade in grades)
        shown = ", ".join(parts[:4]) + (f" and {len(parts) - 4} more" if len(parts) > 4 else "")
        lines.append(f"| {name} | {scores} | {', '.join(items) or '-'} | {shown or '-'} |")
    total = len(runs[0])
    lines += ["", f"{same} of {total} are the same in {len(runs)} runs; {other_points} have other points."]
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Grade the class and print the table; 1 where a submission has other points in another run."""
    count, times = int(arguments[0]), int(arguments[1])
    folder = Path(arguments[2] if len(arguments) > 2 else tempfile.mkdtemp(prefix="class-again-"))
    given = grading.put(folder / "given", sources(count))
    runs = []
    for number in range(1, times + 1):
        out, cache = folder / f"out-{number}", folder / f"cache-{number}"
        batch = grading.grade(ASSIGNMENT, given, out, cache=cache)
        sys.stdout.write(f"run {number}: {len(batch.grades)} grades in {batch.seconds:.0f} s, {out}\n")
        sys.stdout.flush()
        runs.append(batch.grades)
    sys.stdout.write(f"a class of {len(runs[0])}, {times} times with seed {grading.SEED}\n{table(runs)}\n")
    return int(any(points(run[name]) != points(runs[0][name]) for run in runs for name in runs[0]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
