"""Verdicts and wall times on a GPU: the staff's files, the sample class, a class of 60 distinct submissions.

`python -m tests.bench.gpu.demo_class FOLDER [--quick] [--part reference|sample|sixty]`
"""

from __future__ import annotations

import os
from collections import Counter
from statistics import fmean
from typing import TYPE_CHECKING, Any

from tests.bench.gpu import grading
from tests.bench.gpu.grading import ASSIGNMENT, ROOT, errors, failed_items, median_of, stored, table
from tests.bench.gpu.options import parse
from tests.bench.gpu.variants import a_class, reference_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from tests.bench.gpu.grading import Grade

ITEMS = ("compiles", "aligned", "edges", "barriers", "memory", "reuse", "speedup")
JUDGED_BY_TIME = "speedup"
PARTS = ("reference", "sample", "sixty")
_LETTERS = {"pass": "✓", "fail": "✗", "skip": "skip", "error": "ERROR"}


def verdict_rows(grades: Mapping[str, Grade], expected: Mapping[str, Iterable[str]]) -> list[list[object]]:
    """A row per submission: the verdict of each item, the points, the speedup, and whether it is as expected.

    Expected are the items to be lost; the speedup is shown and not compared.
    """
    rows: list[list[object]] = []
    for name, graded in grades.items():
        verdicts = {item["id"]: item["verdict"] for item in graded["items"]}
        marks = [_LETTERS[verdicts[item]] for item in ITEMS]
        points = f"{graded['score']:g} of {graded['max_score']:g}"
        rows.append([name, *marks, points, median_of(graded), as_expected(graded, expected.get(name))])
    return rows


def as_expected(graded: Grade, loses: Iterable[str] | None) -> str:
    """`yes`, or what is different; an empty text where the expected items are unknown."""
    if errors(graded):
        return f"OUR ERROR: {errors(graded)[0][:120]}"
    if loses is None:
        return ""
    lost = {item for item in failed_items(graded) if item != JUDGED_BY_TIME}
    wanted = {item for item in loses if item != JUDGED_BY_TIME}
    more, fewer = sorted(lost - wanted), sorted(wanted - lost)
    parts = (f"loses {', '.join(more)}" if more else "", f"keeps {', '.join(fewer)}" if fewer else "")
    return "; ".join(filter(None, parts)) or "yes"


def verdict_table(grades: Mapping[str, Grade], expected: Mapping[str, Iterable[str]]) -> str:
    """The rows as a table, with a line that counts."""
    rows = verdict_rows(grades, expected)
    right = Counter(str(row[-1] or "not known") for row in rows)
    counted = f"as expected: {right['yes']} of {len(rows)}"
    speedup = "speedup measured"
    return table(("submission", *ITEMS, "points", speedup, "as expected"), rows) + f"\n{counted}\n\n"


def stage_rows(grades: Mapping[str, Grade]) -> list[list[object]]:
    """A row per stage of grade.json's `seconds`: mean and most per submission, and the sum over the class.

    Stages overlap (compilers, tools and emulator run side by side), so the sums say who is busy, not how long
    it took.
    """
    names = list(dict.fromkeys(name for graded in grades.values() for name in graded["seconds"]))
    rows: list[list[object]] = []
    for name in names:
        took = [graded["seconds"][name] for graded in grades.values() if name in graded["seconds"]]
        rows.append([name, len(took), fmean(took), max(took), sum(took)])
    return rows


def held_seconds(grades: Mapping[str, Grade]) -> list[float]:
    """For how long each submission had the GPU to itself, of those that were timed."""
    found = (_find(graded["timing"], "held_s") for graded in grades.values())
    return [float(each) for each in found if each is not None]


def _find(value: Any, key: str) -> Any:  # noqa: ANN401 - JSON
    """The first value under a key, however deep."""
    if isinstance(value, dict):
        if key in value:
            return value[key]
        value = list(value.values())
    if isinstance(value, list):
        return next((found for each in value if (found := _find(each, key)) is not None), None)
    return None


def summary(seconds: float, grades: Mapping[str, Grade], cores: int) -> str:
    """Wall time of a class, what it comes to per submission, and where it went."""
    held = held_seconds(grades)
    rounds = [
        graded["timing"]["rounds"] for graded in grades.values() if (graded["timing"] or {}).get("rounds")
    ]
    rows: list[list[object]] = [
        ["submissions", len(grades)],
        ["cores", cores],
        ["wall time of the batch, s", seconds],
        ["per submission, amortised, s", seconds / max(1, len(grades))],
        ["timed submissions", len(held)],
        ["rounds, mean per timed submission", fmean(rounds) if rounds else None],
        ["GPU to itself, mean per timed submission, s", fmean(held) if held else None],
        ["GPU to itself, most, s", max(held, default=None)],
        ["GPU to itself, in all, s", sum(held)],
        ["errors of ours", sum(bool(errors(graded)) for graded in grades.values())],
    ]
    stages = table(("stage", "submissions", "mean s", "most s", "sum s"), stage_rows(grades))
    return f"{table(('what', 'figure'), rows)}\n{stages}\n"


def _graded(folder: Path, submissions: Path, name: str, backend: str = "gpu") -> dict[str, Any]:
    """Grade a folder once, with nothing built before."""
    out = folder / name
    batch = grading.grade(ASSIGNMENT, submissions, out, backend=backend, cache=folder / "cache")
    return {"seconds": batch.seconds, "grades": batch.grades}


def reference(folder: Path, *, quick: bool) -> str:
    """The staff's kernels and all mistakes, against mistakes.yaml."""
    files = reference_files()[: 6 if quick else None]
    given = grading.put(folder / "reference", {each.name: each.source for each in files})
    run = stored(folder / "reference.json", lambda: _graded(folder, given, "out-reference"))
    expected = {each.name.removesuffix(".cu"): each.loses or () for each in files}
    verdicts = verdict_table(run["grades"], expected)
    return f"## Staff's kernels and mistakes\n\n{verdicts}{summary(run['seconds'], run['grades'], _cores())}"


def sample(folder: Path, *, quick: bool) -> str:
    """The sample class, against its grades on the emulator."""
    given = ROOT / "tests" / "sample_class"
    if quick:
        chosen = ("ada", "boris", "ulla")
        sources = {f"{n}/{f.name}": f.read_bytes() for n in chosen for f in (given / n).iterdir()}
        given = grading.put(folder / "sample", sources)
    run = stored(folder / "sample.json", lambda: _graded(folder, given, "out-sample"))
    emulated = stored(folder / "emulated.json", lambda: _graded(folder, given, "out-emulated", "emulator"))
    expected = {name: failed_items(graded) for name, graded in emulated["grades"].items()}
    verdicts = verdict_table(run["grades"], expected)
    title = "## The sample class, beside the emulator's verdicts"
    return f"{title}\n\n{verdicts}{summary(run['seconds'], run['grades'], _cores())}"


def sixty(folder: Path, *, quick: bool) -> str:
    """60 distinct submissions, half of them right, none of them built before."""
    made = a_class(6 if quick else 60)
    given = grading.put(folder / "sixty", {f"{name}/matmul.cu": each.source for name, each in made.items()})
    run = stored(folder / "sixty.json", lambda: _graded(folder, given, "out-sixty"))
    names = {name: f"{name} ({each.name})" for name, each in made.items()}
    expected = {names[name]: each.loses or () for name, each in made.items()}
    title = f"## A class of {len(made)} distinct submissions"
    verdicts = verdict_table({names[name]: graded for name, graded in run["grades"].items()}, expected)
    return f"{title}\n\n{summary(run['seconds'], run['grades'], _cores())}{verdicts}"


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def main() -> None:
    """Run the parts that were asked for, and print their tables."""
    options = parse(__doc__, PARTS)
    parts = {"reference": reference, "sample": sample, "sixty": sixty}
    for name in options.parts:
        grading.report(options.folder, f"demo-{name}", parts[name](options.folder, quick=options.quick))


if __name__ == "__main__":
    main()
