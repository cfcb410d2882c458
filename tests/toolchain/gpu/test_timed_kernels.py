"""Kernels that do not do in timed rounds what they did before: each is found by what it leaves."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from device import DeviceFault

from tests.toolchain.gpu.fake_clock import Call, Kernel, N, Stopped, adds, device_with
from tests.toolchain.gpu.timed_experiment import Experiment

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    """C = A + B against a baseline of 0.42 ms, settling 1.25."""
    return Experiment.make(tmp_path)


def test_a_kernel_that_goes_wrong_after_a_number_of_launches_is_found(experiment: Experiment) -> None:
    """Its launches are distinguished by their outputs."""

    def later_wrong(call: Call) -> None:
        adds(call)
        if call.before >= 20:
            call.array(2)[5] += 1

    answer, timing = experiment.both(device_with(Kernel(0.28, later_wrong)))
    right = 20 - 1 - answer["warm_rounds"]
    (finding,) = timing.findings
    assert finding.count == timing.launches - right
    assert timing.verified == right
    assert f"{finding.count} of {timing.launches} timed launches left a wrong C, C[5] = " in finding.message


def test_a_kernel_that_skips_work_it_did_before_is_found(experiment: Experiment) -> None:
    """It knows inputs again by one element, and leaves the output as it is: poison."""
    known = set()

    def skips(call: Call) -> None:
        if (key := float(call.array(0)[0])) not in known:
            adds(call)
        known.add(key)

    _, timing = experiment.both(device_with(Kernel(0.28, skips)))
    (finding,) = timing.findings
    assert f"left elements of the output as they were before, up to {N}" in finding.message
    assert timing.verified == 0


def test_a_kernel_that_skips_work_when_its_pointers_repeat_never_gets_to(experiment: Experiment) -> None:
    """They do not repeat, so it does all of its work and is timed by it."""
    known = set()

    def skips(call: Call) -> None:
        key = tuple(map(int, call.arguments))
        if key not in known:
            adds(call)
        known.add(key)

    _, timing = experiment.both(device_with(Kernel(0.28, skips)))
    assert timing.findings == ()
    assert timing.verified == timing.launches


def test_a_kernel_finds_nothing_of_earlier_launches_in_its_variables(experiment: Experiment) -> None:
    """Each launch has a copy of the module of its own: launches cannot be counted, nor results kept."""
    variables: dict[int, int] = {}

    def counts(call: Call) -> None:
        variables[call.device.loads] = variables.get(call.device.loads, 0) + 1
        adds(call)

    answer = experiment.run(device_with(Kernel(0.28, counts)), variables=True)
    assert len(variables) > answer["rounds"]
    assert set(variables.values()) == {1}


def test_a_kernel_without_variables_is_loaded_once(experiment: Experiment) -> None:
    """There is nothing in which it could keep anything."""
    device = device_with(Kernel(0.28))
    experiment.run(device)
    assert device.loads == 0


def test_a_kernel_that_writes_into_its_inputs_is_found(experiment: Experiment) -> None:
    """Even where its output is right."""

    def spoils(call: Call) -> None:
        adds(call)
        call.array(0)[3] = 0

    _, timing = experiment.both(device_with(Kernel(0.28, spoils)))
    (finding,) = timing.findings
    assert "all 20 timed launches changed the inputs" in finding.message
    assert timing.verified == 0


def test_a_kernel_that_spoils_the_masters_is_found_although_our_kernels_suffer_from_it(
    experiment: Experiment,
) -> None:
    """Inputs are compared with what they were before any of its launches."""

    def spoils(call: Call) -> None:
        adds(call)
        for memory in call.device._memory:
            if memory.size == 4 * N:
                memory[:] = 0

    _, timing = experiment.both(device_with(Kernel(0.28, spoils)))
    assert timing.error == ""
    assert "changed the inputs" in timing.findings[-1].message


def test_a_kernel_that_leaves_elements_unwritten_is_found(experiment: Experiment) -> None:
    """The poison is still there."""

    def half(call: Call) -> None:
        adds(call)
        call.array(2)[90:] = np.frombuffer(b"\xa5\x5e\xd1\x7f" * 6, np.float32)

    _, timing = experiment.both(device_with(Kernel(0.28, half)))
    (finding,) = timing.findings
    assert "all 20 timed launches left elements of the output as they were before, up to 6" in finding.message


def test_a_kernel_that_relies_on_a_zeroed_output_is_found(experiment: Experiment) -> None:
    """A sum with poison is no number; in float32 the device makes it the one NaN that it knows."""

    def adds_to(call: Call) -> None:
        call.array(2)[:] += call.array(0) + call.array(1)
        call.array(2)[np.isnan(call.array(2))] = np.frombuffer(b"\xff\xff\xff\x7f", np.float32)

    _, timing = experiment.both(device_with(Kernel(0.28, adds_to)))
    (finding,) = timing.findings
    assert "C[0] = nan" in finding.message


def test_a_kernel_whose_bits_vary_is_compared_where_it_came_back_and_not_accused(
    experiment: Experiment,
) -> None:
    """Four distinct outputs of each set come back; the other launches are counted as unverified."""

    def varies(call: Call) -> None:
        adds(call)
        call.array(2)[0] = np.nextafter(call.array(2)[0], np.float32(2), dtype=np.float32)
        call.array(2)[call.before % N] *= np.float32(1 + 1e-7)

    answer, timing = experiment.both(device_with(Kernel(0.28, varies)))
    assert Counter(each["set"] for each in answer["outputs"]) == {0: 4, 1: 4}
    assert len({each["file"] for each in answer["outputs"]}) == 8
    assert timing.findings == ()
    assert 0 < timing.verified < timing.launches
    assert dict(timing.details)["unverified"] == timing.launches - timing.verified


def test_every_distinct_output_has_the_same_chance_to_come_back(experiment: Experiment) -> None:
    """Late ones are kept as often as early ones, so that a late lie is not crowded out."""
    places = []
    for seed in range(30):
        experiment.plan |= {"seed": seed, "sets": experiment.plan["sets"][:1]}
        count = iter(range(10**6))

        def numbers(call: Call, count: Any = count) -> None:  # noqa: ANN401 - an iterator
            call.array(2)[:] = next(count)

        answer = experiment.run(device_with(Kernel(0.28, numbers)))
        first = 1 + answer["warm_rounds"]
        files = [experiment.folder / each["file"] for each in answer["outputs"]]
        places += [(np.load(file)[0] - first) / answer["rounds"] for file in files]
    assert len(places) == 30 * 4
    assert 0.35 < np.mean(places) < 0.65


# kernels that come to no good end


def test_a_kernel_that_faults_ends_the_rounds_and_what_was_seen_is_kept(experiment: Experiment) -> None:
    """Whole rounds before it, the outputs, and whose fault it was."""

    def faults(call: Call) -> None:
        adds(call)
        if call.before == 30:
            raise Stopped("an illegal memory access was encountered")

    answer, timing = experiment.both(device_with(Kernel(0.28, faults)))
    assert answer["stopped"] == "fault"
    assert answer["fault"].startswith("student: cudaErrorIllegalAddress: an illegal")
    assert 5 < answer["rounds"] < 20
    assert timing.findings[-1].kind == "fault"
    assert "an illegal memory access was encountered" in timing.findings[-1].message
    assert timing.verified == answer["rounds"]


def test_a_kernel_that_faults_at_once_leaves_an_answer_too(experiment: Experiment) -> None:
    """Without any round."""

    def faults(_call: Call) -> None:
        raise Stopped("an illegal memory access was encountered")

    answer, timing = experiment.both(device_with(Kernel(0.28, faults)))
    assert (answer["rounds"], answer["outputs"]) == (0, [])
    assert timing.speedup is None
    assert [finding.kind for finding in timing.findings] == ["fault"]


def test_a_device_without_memory_is_not_reported_as_a_kernel_s_fault(
    experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault is raised, for the harness to report."""
    device = device_with()

    def full(_size: int) -> int:
        raise DeviceFault("cudaErrorMemoryAllocation", "out of memory")

    monkeypatch.setattr(device, "allocate", full)
    with pytest.raises(DeviceFault, match="out of memory"):
        experiment.run(device)


# all arrays alike


def test_all_memory_is_given_back(experiment: Experiment) -> None:
    """The harness may go on with the device."""
    device = device_with()
    experiment.run(device)
    assert device.everything() == b""


def test_an_inout_array_is_copied_in_fresh_and_judged_as_an_output(experiment: Experiment) -> None:
    """Values that an earlier launch left in it are gone."""
    for index, arguments in enumerate(experiment.plan["sets"]):
        arguments[2]["direction"] = "inout"
        start = np.full(N, 10 * (index + 1), np.float32)
        np.save(experiment.folder / arguments[2]["file"], start)
        experiment.expected[index] = experiment.expected[index] + start

    def adds_to(call: Call) -> None:
        call.array(2)[:] += call.array(0) + call.array(1)

    experiment_of_all = device_with(Kernel(0.28, adds_to))
    _, timing = experiment.both(experiment_of_all)
    assert timing.findings == ()
    assert timing.verified == timing.launches == 20
