"""Functions have an estimated speed: their launches, copies and fills at the shape that is timed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.cli import main
from grader.grading.assignment import load_assignment
from grader.kinds import estimating, pipeline
from grader.kinds.estimating import build_of_staff, estimate_submission
from grader.kinds.function import estimating as function_estimating
from grader.kinds.function.estimating import MOST_LAUNCHES
from grader.model import DEVICES, Clause, Submission, Verdict
from grader.running.estimate import device_of, estimate_kernel
from grader.running.estimate.cache import entry_for
from grader.running.estimate.calls import device_pass, host_copy
from tests.bundled import bundled
from tests.kinds.functions_to_estimate import (
    AS_KERNEL,
    BLOCKS,
    BY_MEMORY,
    CONFLICTS,
    DIFFERENT,
    ELEMENTS,
    FOLLOWS,
    MANAGED,
    ON_HOST,
    ORACLE,
    PLAIN,
    PRODUCT,
    SLOW,
    TWO_KERNELS,
    UNTIL_DONE,
    WRONG,
    YAML,
)
from tests.running.estimate.launches import tools

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Assignment, Build, Detail, Estimate, Grade, KernelEstimate, Named
    from grader.running.estimate.estimate import EstimatedKernel
    from grader.toolchain.nvcc import Tools


def written(folder: Path, text: str = YAML, baseline: str = SLOW) -> Assignment:
    """The assignment, and the staff's function that it is compared with."""
    (folder / "assignments/scale").mkdir(parents=True)
    (folder / "reference/scaling").mkdir(parents=True)
    (folder / "reference/scaling/oracle.py").write_text(ORACLE)
    (folder / "reference/scaling/slow.cu").write_text(baseline)
    (folder / "assignments/scale/assignment.yaml").write_text(text)
    return load_assignment(folder / "assignments/scale")


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    """Pointers to the device, and the slow function beside it."""
    return written(tmp_path)


def file(source: str) -> Submission:
    """A submission with this text."""
    return Submission("ada", "scale.cu", source.encode(), "0")


def estimated(assignment: Assignment, source: str, shape: Named[int] = (), device: str = "h200") -> Estimate:
    """The estimate that `grader estimate` makes."""
    plan = pipeline.make_plan(assignment, 1, tools(), visible_only=True)
    return estimate_submission(plan, file(source), tools(), device, shape)


def student(estimate: Estimate) -> KernelEstimate:
    """The estimate of the submission itself."""
    assert estimate.ratio is not None, (estimate.problem, estimate.details)
    return dict(estimate.kernels)["student"]


def checked(assignment: Assignment, source: str, *, estimates: bool = True) -> Grade:
    """A grade without a GPU, as `check` makes it."""
    plan = pipeline.make_plan(assignment, 1, tools(), visible_only=True)
    return pipeline.grade(replace(plan, estimates=estimates), file(source), tools())


def test_a_function_takes_as_long_as_its_kernel_alone(tmp_path: Path) -> None:
    """The same kernel, handed in as a function and as a kernel; so does the slower one beside it."""
    function = estimated(written(tmp_path / "function"), PLAIN)
    kernel = estimated(
        written(tmp_path / "kernel", AS_KERNEL), PLAIN.replace("__global__", 'extern "C" __global__')
    )
    assert student(function).milliseconds == pytest.approx(student(kernel).milliseconds)
    assert function.ratio is not None
    assert kernel.ratio is not None
    assert function.ratio.median == pytest.approx(kernel.ratio.median)
    assert function.ratio.median > 1.2


def test_copies_and_fills_are_part_of_the_time_as_they_are_on_a_gpu(tmp_path: Path) -> None:
    """Of pointers to the host: two copies of the arrays, and a fill."""
    on_device = student(estimated(written(tmp_path / "device"), PLAIN))
    on_host = written(tmp_path / "host", YAML.replace("pointers: device", "pointers: host"), ON_HOST)
    whole, device = student(estimated(on_host, ON_HOST)), device_of("h200")
    moves = 2 * host_copy(4 * ELEMENTS, device).milliseconds + device_pass(4 * ELEMENTS, device).milliseconds
    assert whole.milliseconds == pytest.approx(on_device.milliseconds + moves)
    shares = {limit.limit: limit.share for limit in whole.limits}
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["host-copies"] * whole.milliseconds == pytest.approx(
        2 * (host_copy(4 * ELEMENTS, device).milliseconds - device.launch_us / 1000)
    )


def test_two_kernels_take_as_long_as_both_and_each_has_its_lines(assignment: Assignment) -> None:
    """The copy within device memory reads and writes."""
    both = student(estimated(assignment, TWO_KERNELS))
    product = student(estimated(assignment, PLAIN))
    copied_and_product = student(
        estimated(assignment, TWO_KERNELS.replace(f"    sum{BLOCKS}(x, y, n);\n", ""))
    )
    copied_and_sum = student(
        estimated(assignment, TWO_KERNELS.replace(f"    product{BLOCKS}(x, y, n);\n", ""))
    )
    copy = device_pass(8 * ELEMENTS, device_of("h200"))
    assert copied_and_product.milliseconds == pytest.approx(product.milliseconds + copy.milliseconds)
    assert both.milliseconds == pytest.approx(product.milliseconds + copied_and_sum.milliseconds)
    text = TWO_KERNELS.splitlines()
    of_kernels = {text.index(line) + 1 for line in text if "y[i]" in line}
    lines = {line for limit in both.limits for line, _ in limit.lines}
    assert of_kernels <= lines
    assert both.occupancy == 1


def test_launches_that_are_alike_are_simulated_once(
    assignment: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a loop whose end depends on results, too, which the emulator computes."""
    entries = []

    def noted(code: object, build: Build, *others: object) -> EstimatedKernel:
        entries.append(build.entry)
        return estimate_kernel(code, build, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(function_estimating, "estimate_kernel", noted)
    student(estimated(assignment, PLAIN))  # the baseline is known from here on
    entries.clear()
    whole = student(estimated(assignment, UNTIL_DONE))
    assert [("count" in entry, "product" in entry) for entry in entries] == [(True, False), (False, True)]
    shares = {limit.limit: limit.share for limit in whole.limits}
    steps = 3 + 1 + 4  # rounds, the product, copies
    assert shares["launch"] * whole.milliseconds == pytest.approx(steps * device_of("h200").launch_us / 1000)


def test_a_launch_finds_what_copies_have_put_there(assignment: Assignment) -> None:
    """In constant memory, and behind a pointer into an array."""

    def milliseconds(in_constant: int, in_array: int) -> float:
        source = BY_MEMORY.replace("IN_CONSTANT", str(in_constant)).replace("IN_ARRAY", str(in_array))
        return student(estimated(assignment, source)).milliseconds

    little = milliseconds(1, 1)
    assert milliseconds(200, 1) > 1.2 * little
    assert milliseconds(1, 200) > 1.2 * little


def test_what_would_help_is_reported_for_the_whole_function(assignment: Assignment) -> None:
    """Of the launch that takes most, beside what stays: it gains more the more often it is made."""
    line = next(at for at, text in enumerate(CONFLICTS.splitlines(), 1) if "sum += tile" in text)
    gains = []
    for launches in (1, 20):
        estimate = estimated(assignment, CONFLICTS.replace("LAUNCHES", str(launches)))
        change = next(change for change in estimate.changes if change.change == "no-bank-conflicts")
        assert change.line == line
        assert estimate.ratio is not None
        gains.append(change.ratio / estimate.ratio.median)
    assert 1.37 < gains[0] < gains[1]


def test_nothing_helps_where_copies_take_most_of_the_time(tmp_path: Path) -> None:
    """The same launch, between arrays that come from the host and go back."""
    columns = CONFLICTS.partition('extern "C"')[0].removeprefix(PRODUCT)
    launch = f"columns<<<n / 128, 128>>>(to, n); product{BLOCKS}(from, to, n);"
    source = columns + ON_HOST.replace(f"product{BLOCKS}(from, to, n);", launch)
    on_host = written(tmp_path, YAML.replace("pointers: device", "pointers: host"), ON_HOST)
    estimate = estimated(on_host, source)
    assert student(estimate).limits[0].limit == "host-copies"
    assert estimate.changes == ()


@pytest.mark.parametrize(
    ("source", "problem", "detail"),
    [
        (
            DIFFERENT.replace("LAUNCHES", str(MOST_LAUNCHES)).replace("STEP", "i"),
            "too-many-launches",
            str(MOST_LAUNCHES),
        ),
        (MANAGED, "not-recorded", (Clause("uses-host-memory"),)),
        (FOLLOWS, "stray-launch", ""),
        (PLAIN.replace("{ product", "{ if (n < 99) product"), "not-launched", ""),
    ],
    ids=["differ", "managed", "follows", "none"],
)
def test_what_cannot_be_estimated_has_a_reason_and_costs_no_points(
    assignment: Assignment, source: str, problem: str, detail: Detail
) -> None:
    """All of them are right, and the item is skipped."""
    counts = assignment_with(assignment, estimate=True)
    grade = checked(counts, source, estimates=False)
    assert grade.estimate is not None
    assert (grade.estimate.problem, grade.estimate.ratio) == (problem, None)
    assert [value for _, value in grade.estimate.details] == ([detail] if detail else [])
    right, fast = (item.result for item in grade.items)
    assert (right.verdict, fast.verdict) == (Verdict.PASS, Verdict.SKIP)


def test_many_launches_that_are_alike_have_an_estimate(assignment: Assignment) -> None:
    """However many there are."""
    many = DIFFERENT.replace("LAUNCHES", "1000").replace("STEP", "32")
    assert student(estimated(assignment, many)).milliseconds > 1000 * device_of("h200").launch_us / 1000


def assignment_with(assignment: Assignment, **options: object) -> Assignment:
    """The assignment with options of its item for speed."""
    rubric = tuple(
        replace(item, options=(*((k, v) for k, v in item.options if k not in options), *options.items()))
        if item.check == "speedup"
        else item
        for item in assignment.rubric
    )
    return replace(assignment, rubric=rubric)


def test_a_check_shows_the_estimate_in_place_of_points(assignment: Assignment) -> None:
    """The item stays skipped, unless the rubric gives points for an estimate."""
    grade = checked(assignment, PLAIN)
    assert grade.estimate is not None
    assert grade.estimate.ratio is not None
    assert [name for name, _ in grade.estimate.kernels] == ["student", "slow"]
    assert grade.items[1].result.verdict is Verdict.SKIP
    assert checked(assignment, PLAIN, estimates=False).estimate is None


@pytest.mark.parametrize(
    ("source", "verdict"), [(PLAIN, Verdict.PASS), (SLOW, Verdict.FAIL)], ids=["plain", "slow"]
)
def test_an_estimate_decides_where_the_rubric_asks_for_it(
    tmp_path: Path, source: str, verdict: Verdict
) -> None:
    """The whole interval has to reach what is asked for."""
    text = YAML.replace("none_below: 1.0, full_at: 1.2", "estimate: true, steps: [{at: 1.1, credit: 1}]")
    fast = checked(written(tmp_path, text), source, estimates=False).items[1].result
    assert (fast.verdict, fast.estimated) == (verdict, True)


# The second kernel does nothing unless the first has set a flag, which it does where it is really run.
FEIGNED = f"""{PRODUCT}
__global__ void say(int *word) {{ *word = 1; }}
__global__ void obey(const float *x, float *y, const int *word, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (*word == 0) return;
    #pragma unroll 1
    for (int round = 0; round < 99; ++round) __syncthreads();
    if (i < n) y[i] = 3.0f * x[i];
}}
extern "C" void scale(const float *x, float *y, int n) {{
    int *word;
    cudaMalloc(&word, sizeof *word);
    cudaMemset(word, 0, sizeof *word);
    say<<<1, 1>>>(word);
    obey{BLOCKS}(x, y, word, n);
    cudaFree(word);
}}
"""


def test_no_estimate_gives_points_to_a_launch_that_obeys_an_earlier_one(tmp_path: Path) -> None:
    """It would be estimated as if it did nothing: the item is skipped, for a GPU to decide."""
    text = YAML.replace("none_below: 1.0, full_at: 1.2", "estimate: true, steps: [{at: 0.3, credit: 1}]")
    grade = checked(written(tmp_path, text), FEIGNED, estimates=False)
    assert grade.estimate is not None
    assert grade.estimate.ratio is not None
    assert grade.estimate.ratio.low > 0.3  # what is asked for would be reached
    right, fast = (item.result for item in grade.items)
    assert (right.verdict, fast.verdict) == (Verdict.PASS, Verdict.SKIP)
    assert "2 launches" in fast.message


def test_a_wrong_function_has_no_estimate(assignment: Assignment) -> None:
    """However fast it would be."""
    estimate = checked(assignment, WRONG).estimate
    assert estimate is not None
    assert (estimate.problem, estimate.ratio) == ("wrong", None)


def test_nothing_is_estimated_where_no_item_asks_for_speed() -> None:
    """As of the bundled function."""
    like = bundled("matmul-function")
    assert like.timing is None
    plan = replace(pipeline.make_plan(like, 1, tools(), visible_only=True), estimates=True)
    source = (like.path.parents[1] / "reference/matmul/matmul-function/solution.cu").read_bytes()
    plan = replace(plan, cases=plan.cases[:1])
    assert pipeline.grade(plan, Submission("ada", "ada.cu", source, "0"), tools()).estimate is None


def test_the_baseline_is_estimated_once_for_all_checks(
    assignment: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next process finds it in the folder of builds, to the last digit."""
    builds = []

    def noted(of: Assignment, name: str, own: Tools) -> Build:
        builds.append(name)
        return build_of_staff(of, name, own)

    monkeypatch.setattr(estimating, "build_of_staff", noted)
    monkeypatch.setattr(estimating, "entry_for", lambda _, parts: entry_for(tmp_path, parts))
    kept = []
    for _ in range(2):
        monkeypatch.setattr(estimating, "_baselines", {})
        kept.append(dict(estimated(assignment, PLAIN).kernels)["slow"])
    assert kept[0] == kept[1]
    assert builds == ["slow"]


def test_students_have_the_baselines_times_without_its_source(
    assignment: Assignment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They have them device by device; `grader estimate` gives the same result with them."""
    handed_out, own = tmp_path / "student", tmp_path / "mine.cu"
    own.write_text(PLAIN)
    assert main(["export-student", str(assignment.path), str(handed_out)]) == 0
    assert not list(handed_out.rglob("*.cu"))
    written_down = json.loads((handed_out / "reference/scaling/scale/baselines.json").read_text())
    assert set(written_down["estimates"]) == set(DEVICES)
    ratios = []
    for folder in (assignment.path, handed_out / "assignments/scale"):
        into = tmp_path / "estimate.json"
        assert main(["estimate", str(folder), str(own), "--device", "t4", "--json", str(into)]) == 0
        ratios.append(json.loads(into.read_text())["ratio"]["median"])
    assert ratios[1] == pytest.approx(ratios[0], rel=1e-3)
    assert "times as fast as the slow kernel" in capsys.readouterr().out


def test_another_shape_may_be_asked_for(assignment: Assignment, tmp_path: Path) -> None:
    """As of kernels."""
    own, into = tmp_path / "mine.cu", tmp_path / "estimate.json"
    own.write_text(PLAIN)
    command = ["estimate", str(assignment.path), str(own), "--shape", "N=1000", "--json", str(into)]
    assert main(command) == 0
    assert json.loads(into.read_text())["shape"] == {"N": 1000}
