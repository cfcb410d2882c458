"""The accuracy of estimated speeds: the corpus, estimated, beside its measured times.

`python -m tests.bench.estimate [--device h100] [--held-out [ROUND]] [--quick] [--only WORD] ...`

It estimates every launch of the corpus and of the bundled assignments, two at a time, and compares the times
with `measured-<device>.txt`. No constant of the model may be fitted to the first; the table has the second
apart. With `--held-out` the kernels are those of `heldout.py`, the times `measured-heldout-<device>.txt`;
with `--held-out 2` those of `heldout2/` and `measured-heldout2-<device>.txt`.
Nothing is written but what was compiled (`build/estimate`), and FILE where it is asked for.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from grader.model import DEVICES
from grader.running.estimate import ERROR_BOUND, device_of
from tests.bench.estimate import comparison
from tests.bench.estimate.comparison import agreement, by_family, worst
from tests.bench.estimate.corpus import PARTS
from tests.bench.estimate.estimates import PROCESSES, estimates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.bench.estimate.comparison import Agreement, Compared
    from tests.bench.estimate.estimates import Estimated

HERE = Path(__file__).resolve().parent
WORST = 12
ROUNDS = {
    None: (("corpus", "calibration"), ""),
    1: (("held-out",), "heldout-"),
    2: (("held-out-2",), "heldout2-"),
}
"""The parts of each round of held-out kernels, or of none, and what their measured file is called for."""


def summary(parts: Mapping[str, Agreement]) -> str:
    """The table of issue 18 in Markdown: what is wanted, and what each part gives."""
    rows = (
        ("ratio to naive, median error", "≤ 10 %", "ratio_median", "{:.1%}"),
        ("ratio to naive, ninetieth percentile", "≤ 25 %", "ratio_ninetieth", "{:.1%}"),
        ("rank correlation of ratios", "≥ 0.95", "rank_correlation", "{:.3f}"),
        ("faster of two kernels that differ by 15 %", "≥ 97 %", "pairs_right", "{:.1%}"),
        (f"interval (a factor of {1 + ERROR_BOUND:g}) holds", "≥ 90 %", "holds", "{:.1%}"),
        ("time itself, median error", "", "time_median", "{:.1%}"),
        ("launches", "", "launches", "{}"),
        ("pairs", "", "pairs", "{}"),
    )
    lines = [f"| | wanted | {' | '.join(parts)} |", "|---|---|" + "---|" * len(parts)]
    for name, wanted, key, form in rows:
        values = (form.format(getattr(part, key)) for part in parts.values())
        lines.append(f"| {name} | {wanted} | {' | '.join(values)} |")
    return "\n".join(lines)


def families(rows: Sequence[Compared]) -> str:
    """A line for each family."""
    lines = [
        "| family | launches | ratio, median | nine in ten | pairs right | time, median |",
        "|---|" + "---|" * 5,
    ]
    for family, launches in by_family(rows).items():
        one = agreement(launches)
        lines.append(
            f"| {family} | {one.launches} | {one.ratio_median:.1%} | {one.ratio_ninetieth:.1%} "
            f"| {one.pairs_right:.1%} | {one.time_median:.1%} |"
        )
    return "\n".join(lines).replace("nan%", "–")


def launches(rows: Sequence[Compared]) -> str:
    """A line for each launch: measured and estimated times in microseconds, ratios, and what limits it."""
    lines = ["| kernel | shape | measured | estimated | ratio | estimated | limits |", "|---|" + "---|" * 6]
    for row in rows:
        shape = "·".join(str(size) for size in row.shape.values())
        limits = ", ".join(f"{limit} {share:.0%}" for limit, share in row.limits[:3])
        lines.append(
            f"| {row.kernel} | {shape} | {1000 * row.measured:.1f} µs | {1000 * row.estimated:.1f} µs "
            f"({row.error:+.0%}) | {row.ratio:.2f} | {row.estimated_ratio:.2f} ({row.ratio_error:+.0%}) "
            f"| {limits} |"
        )
    return "\n".join(lines)


def run(options: argparse.Namespace, parts: Sequence[str]) -> dict[str, list[Estimated]]:
    """The estimates of the kernels of some parts."""
    jobs = [
        (kernel, shape)
        for part in parts
        for kernel in PARTS[part]
        if options.only in kernel.name or options.only in kernel.family
        for shape in ((kernel.shapes[len(kernel.shapes) // 2],) if options.quick else kernel.shapes)
    ]
    part_of = {kernel.name: part for part, kernels in PARTS.items() for kernel in kernels}
    made: dict[str, list[Estimated]] = {part: [] for part in parts}
    for number, one in enumerate(estimates(jobs, options.device), 1):
        made[part_of[one.kernel]].append(one)
        if number % 20 == 0:
            sys.stderr.write(f"{number} of {len(jobs)}\n")
    return made


def duration(made: Sequence[Estimated], wall: float) -> str:
    """Return a sentence about the time that the estimates took."""
    seconds = sorted(one.seconds for one in made if not one.problem) or [0.0]
    return (
        f"An estimate took {seconds[len(seconds) // 2]:.2f} s (median), at most {seconds[-1]:.2f} s; "
        f"all {wall:.0f} s in {PROCESSES} processes."
    )


def main() -> int:
    """Estimate, compare, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", choices=DEVICES, default="h100", help="one that was measured")
    parser.add_argument(
        "--held-out",
        nargs="?",
        type=int,
        const=1,
        choices=(1, 2),
        metavar="ROUND",
        help="kernels that no model was fitted to: the first round of them, or round 2",
    )
    parser.add_argument("--quick", action="store_true", help="one shape of each kernel")
    parser.add_argument(
        "--only", metavar="WORD", default="", help="kernels or families with this in the name"
    )
    parser.add_argument("--launches", action="store_true", help="a line for every launch, too")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write the estimates")
    options = parser.parse_args()
    parts, kind = ROUNDS[options.held_out]
    measured = HERE / f"measured-{kind}{options.device}.txt"
    if not measured.is_file():
        parser.error(f"there is no {measured.name}: `tests.bench.estimate.measure` makes it, on such a GPU")
    began = time.perf_counter()
    made = run(options, parts)
    wall = time.perf_counter() - began
    rows = {
        part: comparison.compare(made[part], comparison.read_times(measured, part), part) for part in parts
    }
    everything = [row for part in parts for row in rows[part]]
    all_made = [one for part in parts for one in made[part]]
    pieces = [
        f"{device_of(options.device).name}, {measured.name}",
        summary({part: agreement(rows[part]) for part in parts}),
        families(everything),
        f"The ratios that are off by most:\n\n{launches(worst(everything, WORST))}",
        *([launches(everything)] if options.launches else ()),
        *(f"no estimate: {one.kernel} {dict(one.shape)}: {one.problem}" for one in all_made if one.problem),
        duration(all_made, wall),
    ]
    sys.stdout.write("\n\n".join(pieces) + "\n")
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in all_made], indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
