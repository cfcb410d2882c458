"""Reading of a timing answer by the host: it believes columns only, and none that cannot be."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.toolchain.gpu.fake_clock import Call, Kernel, adds, device_with
from tests.toolchain.gpu.timed_experiment import Experiment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Answer = dict[str, Any]


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    """C = A + B against a baseline of 0.42 ms, settling 1.25."""
    return Experiment.make(tmp_path)


@pytest.fixture(scope="module")
def honest_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder that an honest run leaves, and its answer: the same for every test, and slow to make."""
    folder = tmp_path_factory.mktemp("honest")
    return folder, json.dumps(Experiment.make(folder).run(device_with()))


@pytest.fixture
def answer(experiment: Experiment, honest_run: tuple[Path, str]) -> Answer:
    """An honest one, and the files that it speaks of; a test may change both."""
    folder, text = honest_run
    shutil.copytree(folder, experiment.folder, dirs_exist_ok=True)
    content: Answer = json.loads(text)
    return content


def test_what_the_answer_sums_up_is_not_looked_at(experiment: Experiment, answer: Answer) -> None:
    """Rounds, taint and the reason for stopping are found out anew from the columns and clocks."""
    honest = experiment.read(answer)
    lied = answer | {"rounds": 9999, "converged": "yes"}
    lied["columns"] = answer["columns"] | {"tainted": ["power cap"] * 80}
    timing = experiment.read(lied)
    assert (timing.rounds, timing.dropped, timing.speedup) == (20, 0, honest.speedup)


def test_the_same_answer_gives_the_same_timing(experiment: Experiment, answer: Answer) -> None:
    """Bit for bit, intervals too."""
    assert experiment.read(answer) == experiment.read(json.loads(json.dumps(answer)))


def test_a_digest_of_nothing_that_came_back_is_not_verified(experiment: Experiment, answer: Answer) -> None:
    """No output, no proof; and no accusation."""
    timing = experiment.read(answer | {"outputs": []})
    assert (timing.verified, timing.launches, timing.findings) == (0, 20, ())


def test_outputs_are_compared_in_full(experiment: Experiment, answer: Answer) -> None:
    """One wrong element in one array that came back counts for every launch that left it."""
    file = experiment.folder / answer["outputs"][1]["file"]
    array = np.load(file)
    array[50] += 0.1
    np.save(file, array)
    timing = experiment.read(answer)
    rows = answer["columns"]
    hit = sum(k == "student" and w == 1 for k, w in zip(rows["kernel"], rows["set"], strict=True))
    (finding,) = timing.findings
    assert (finding.count, finding.address, finding.file) == (hit, "C[50]", "student.cu")
    assert timing.verified == 20 - hit


def test_rates_times_and_occupancy_are_reported(experiment: Experiment, answer: Answer) -> None:
    """GFLOP/s by kernel, the roofline's floor, what was passed in, and the record of details."""
    experiment.plan["flops"] = 2 * 1024**3
    timing = experiment.read(
        answer, read_bytes=2**23, written_bytes=2**22, occupancy=0.75, shape=(("N", 96),)
    )
    own = dict(timing.milliseconds)["student"]
    assert dict(timing.gflops)["student"] == pytest.approx(2 * 1024**3 / own / 1e6)
    assert timing.floor_milliseconds == pytest.approx(2 * 1024**3 / answer["fp32_gflop_s"] / 1e6)
    assert (timing.occupancy, timing.shape, timing.level) == (0.75, (("N", 96),), 0.99)
    assert timing.first_milliseconds == answer["first_ms"]["student"]
    details = dict(timing.details)
    assert details["milliseconds_percentiles"]["student"][1] == pytest.approx(own, rel=1e-5)
    assert details["clocks"]["sm_mhz"] == [1980.0, 1980.0]
    json.dumps(details, allow_nan=False)


def test_what_is_written_may_still_be_in_l2_when_a_kernel_ends(
    experiment: Experiment, answer: Answer
) -> None:
    """Only the rest of it must have moved."""
    moved = {"read_bytes": 10**9, "written_bytes": 10**9}
    full = experiment.read(answer, **moved).floor_milliseconds
    assert full == pytest.approx(2e9 / answer["bandwidth_gb_s"] / 1e6)
    assert experiment.read(answer, **moved, l2_bytes=4 * 10**8).floor_milliseconds == pytest.approx(
        0.8 * full
    )


def test_a_time_under_the_roofline_is_a_finding(experiment: Experiment, answer: Answer) -> None:
    """More than 5 % under it; a time at 99 % of it is none."""
    median = dict(experiment.read(answer).milliseconds)["student"]
    reached = median * answer["bandwidth_gb_s"] * 1e6
    assert experiment.read(answer, read_bytes=int(1.01 * reached)).findings == ()
    (finding,) = experiment.read(answer, read_bytes=int(1.2 * reached)).findings
    assert finding.kind == "mistake"
    assert "20 of 20 timed launches took less than" in finding.message


def test_a_kernel_that_skips_some_of_its_work_is_found_by_its_fastest_launches(
    experiment: Experiment,
) -> None:
    """Every other launch takes a hundredth: the median would not show it."""
    answer = experiment.run(device_with())
    rows = answer["columns"]
    for row, kernel in enumerate(rows["kernel"]):
        if kernel == "student" and rows["round"][row] % 2:
            rows["ms"][row] /= 100
    (finding,) = experiment.read(answer, read_bytes=int(0.1e6 * answer["bandwidth_gb_s"])).findings
    assert (finding.kind, finding.count) == ("mistake", 10)


def test_a_staff_kernel_that_changes_its_inputs_is_ours(experiment: Experiment) -> None:
    """The student gets no finding about it."""

    def spoils(call: Call) -> None:
        adds(call)
        call.array(1)[0] = 0

    device = device_with()
    device.kernels["solution"] = Kernel(0.28, spoils)
    _, timing = experiment.both(device)
    assert timing.error == "the inputs of the solution kernel were changed while it was timed"


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        (
            "timeout: a timed launch did not end within 10 s",
            "timeout",
            "did not end within 10 s; look for a loop",
        ),
        (
            "student: cudaErrorAssert: device-side assert triggered",
            "fault",
            "assert triggered (cudaErrorAssert)",
        ),
        ("student: something", "fault", "something"),
        ("student: cudaErrorX: a\x1b[31mb", "fault", "a\\x1b[31mb"),
    ],
)
def test_a_stop_by_the_student_s_kernel_is_a_finding(
    experiment: Experiment, fault: str, kind: str, words: str
) -> None:
    """The harness may have come to no columns at all."""
    timing = experiment.read({"stopped": "fault", "fault": fault})
    (finding,) = timing.findings
    assert (timing.error, finding.kind) == ("", kind)
    assert words in finding.message


@pytest.mark.parametrize(
    "fault", ["lost: its process ended", "naive: cudaErrorX: bad", "cudaErrorMemoryAllocation: out of memory"]
)
def test_any_other_stop_is_ours(experiment: Experiment, fault: str) -> None:
    """Ours, a staff kernel's, or the machine's."""
    timing = experiment.read({"stopped": "fault", "fault": fault})
    assert timing.findings == ()
    assert timing.error == f"the timing failed: {fault}"


def test_an_answer_of_too_few_rounds_is_ours(experiment: Experiment, answer: Answer) -> None:
    """Four rounds are too few for any conclusion."""
    answer["columns"] = {name: column[:16] for name, column in answer["columns"].items()}
    assert "4 rounds" in experiment.read(answer | {"clocks": []}).error


def _set(column: str, value: Any) -> Callable[[Answer], None]:  # noqa: ANN401 - JSON
    def change(answer: Answer) -> None:
        answer["columns"][column][3] = value

    return change


def _put(key: str, value: Any) -> Callable[[Answer], None]:  # noqa: ANN401 - JSON
    def change(answer: Answer) -> None:
        answer[key] = value

    return change


def _less(answer: Answer) -> None:
    answer["columns"] = {name: column[:-1] for name, column in answer["columns"].items()}


def _uneven(answer: Answer) -> None:
    answer["columns"]["ms"].pop()


def _without(answer: Answer) -> None:
    del answer["columns"]["digest"]


@pytest.mark.parametrize(
    "forge",
    [
        _set("ms", 0),
        _set("ms", -1.0),
        _set("ms", "0.3"),
        _set("ms", True),
        _set("ms", 10**400),
        _set("round", 7),
        _set("round", -1),
        _set("kernel", "mine"),
        _set("kernel", ["student"]),
        _set("set", 2),
        _set("set", 1.0),
        _set("digest", "0" * 15),
        _set("digest", "G" * 16),
        _set("digest", None),
        _set("unwritten", -1),
        _set("inputs", 1),
        _put("columns", []),
        _put("columns", {"ms": []}),
        _put("clocks", {}),
        _put("clocks", [7]),
        _put("clocks", [{"round": 99}]),
        _put("clocks", [{"round": 1, "sm_mhz": "fast"}]),
        _put("bandwidth_gb_s", "much"),
        _put("library_ms", [None]),
        _put("library_ms", 3),
        _put("stopped", 1),
        _less,
        _uneven,
        _without,
    ],
)
def test_an_answer_that_cannot_be_is_ours_and_raises_nothing(
    experiment: Experiment, answer: Answer, forge: Callable[[Answer], None]
) -> None:
    """The error is reported as ours, and there is no speedup."""
    forge(answer)
    timing = experiment.read(answer)
    assert timing.error.startswith(("the timing", "round"))
    assert timing.speedup is None


def test_an_output_of_another_array_is_ours(experiment: Experiment, answer: Answer) -> None:
    """The outputs in an answer must be those that were asked for."""
    answer["outputs"][0]["array"] = "D"
    assert "not those that were asked for" in experiment.read(answer).error


def test_an_output_of_another_shape_is_ours(experiment: Experiment, answer: Answer) -> None:
    """Nothing of a student's can make it so."""
    np.save(experiment.folder / answer["outputs"][0]["file"], np.zeros(5, np.float32))
    assert "cannot be compared" in experiment.read(answer).error
