"""Wall time of one submission with all checks and all tools, by stage; nothing built before, and all.

`python -m tests.bench.gpu.one_submission FOLDER [--quick]`
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from tests.bench.gpu import grading
from tests.bench.gpu.grading import ASSIGNMENT, MATMUL, SEED, stored, table
from tests.bench.gpu.options import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLUMNS = ("check, cold", "check, warm", "grade, cold", "grade, warm")


def once(subcommand: str, cache: Path) -> dict[str, Any]:
    """One `check` or `grade` of the model solution: wall seconds, and seconds by stage."""
    with tempfile.TemporaryDirectory() as temporary:
        grade_file, out = Path(temporary) / "grade.json", str(Path(temporary) / "out")
        more = ("-o", out) if subcommand == "grade" else ()
        options = ("--backend", "gpu", "--seed", SEED, "--json", str(grade_file), *more)
        seconds = grading.command(subcommand, ASSIGNMENT, str(MATMUL / "solution.cu"), *options, cache=cache)
        grade = json.loads(grade_file.read_text("utf-8"))
    graded = grade[0] if isinstance(grade, list) else grade
    return {"wall": seconds, "stages": graded["seconds"], "verdict": graded["verdict"]}


def measure(repeats: int) -> dict[str, list[dict[str, Any]]]:
    """Both commands, each with an empty cache of its own and then again, several times over."""
    runs: dict[str, list[dict[str, Any]]] = {column: [] for column in COLUMNS}
    for _ in range(repeats):
        for subcommand in ("check", "grade"):
            with tempfile.TemporaryDirectory() as cache:
                for warmth in ("cold", "warm"):
                    runs[f"{subcommand}, {warmth}"].append(once(subcommand, Path(cache)))
    return runs


def stage_table(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Medians: the wall time first, then every stage; what a stage does not have is a dash."""
    stages = dict.fromkeys(name for each in runs.values() for run in each for name in run["stages"])
    rows: list[list[object]] = [["whole command", *(_median(runs[c], "wall") for c in runs)]]
    rows += [[name, *(_median([run["stages"] for run in runs[c]], name) for c in runs)] for name in stages]
    verdicts = sorted({run["verdict"] for each in runs.values() for run in each})
    note = "Stages overlap: compilers, tools and emulator run side by side."
    return (
        f"## One submission\n\nseconds, medians of {len(next(iter(runs.values())))}; verdicts: "
        f"{', '.join(verdicts)}\n\n{table(('stage', *runs), rows)}\n{note}\n"
    )


def _median(runs: Sequence[Mapping[str, Any]], name: str) -> float | None:
    took = [run[name] for run in runs if name in run]
    return float(median(took)) if took else None


def main() -> None:
    """Measure, and print the table."""
    options = parse(__doc__)
    runs = stored(options.folder / "one.json", lambda: measure(1 if options.quick else 5))
    grading.report(options.folder, "one-submission", stage_table(runs))


if __name__ == "__main__":
    main()
