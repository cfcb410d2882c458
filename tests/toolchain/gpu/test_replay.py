"""A function's recorded work, replayed in timed rounds: what it has of its own is new each time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.model import Launch
from grader.toolchain.gpu.replay import (
    HOST,
    ArrayLocation,
    CopyStep,
    FillStep,
    LaunchStep,
    Recording,
    differ_by_repeating,
)
from tests.toolchain.gpu.fake_clock import Call, FakeDevice, Kernel, N, adds, device_with
from tests.toolchain.gpu.timed_experiment import Experiment

if TYPE_CHECKING:
    from pathlib import Path

Steps = tuple[FillStep, ...]
ONE = Launch((1, 1, 1), (N, 1, 1), 0)


def launch(entry: str, *places: ArrayLocation) -> LaunchStep:
    """A launch with arrays at these places."""
    return LaunchStep(entry, ONE, tuple((bytes(8), ((0, place),)) for place in places))


def replaying(folder: Path, *recordings: Recording, **staff: Recording) -> Experiment:
    """An experiment whose student's kernel is a function that asked for this; so are the staff's, if any."""
    files: dict[str, bytes] = {}
    asked = {"student": recordings} | {name: (one,) for name, one in staff.items()}
    described = {
        name: [one.described(f"{name}-{number}", files) for number, one in enumerate(several)]
        for name, several in asked.items()
    }
    experiment = Experiment.make(folder, recordings=described, on_host=bool(staff))
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return experiment


def device(**bodies: Any) -> FakeDevice:  # noqa: ANN401 - kernels as Python functions
    """The usual kernels, and these of the function's, which take 0.05 ms each."""
    made = device_with(Kernel(0.28))
    made.kernels |= {name: Kernel(0.05, body) for name, body in bodies.items()}
    return made


def test_what_a_function_asked_for_is_done_again_in_its_order(tmp_path: Path) -> None:
    """A copy to memory of its own, a launch that adds there, and a copy back: right, and timed as one."""
    size = 4 * N
    recording = Recording(
        (
            CopyStep(ArrayLocation("scratch-1"), ArrayLocation("A"), size),
            launch("increases", ArrayLocation("scratch-1"), ArrayLocation("B")),
            CopyStep(ArrayLocation("C"), ArrayLocation("scratch-1"), size // 2),
            CopyStep(ArrayLocation("C", size // 2), ArrayLocation("scratch-1", size // 2), size // 2),
        ),
        scratch=(("scratch-1", size),),
    )

    def increases(call: Call) -> None:
        call.array(0)[:] += call.array(1)

    _, timing = replaying(tmp_path, recording).both(device(increases=increases))
    assert timing.findings == ()
    assert timing.verified == timing.launches > 0
    assert timing.speedup is not None
    assert timing.speedup.median > 4


def test_memory_that_a_function_allocates_holds_nothing_of_the_last_time(tmp_path: Path) -> None:
    """It is filled with 0xFF before each time; what the function has on the host is copied from there."""
    zeros = np.zeros(N, np.float32).tobytes()
    recording = Recording(
        (
            launch("remembers", ArrayLocation("scratch-7")),
            CopyStep(ArrayLocation("scratch-7"), ArrayLocation("content-1"), 4 * N),
            launch("remembers", ArrayLocation("scratch-7")),
            launch("adds", ArrayLocation("A"), ArrayLocation("B"), ArrayLocation("C")),
            CopyStep(ArrayLocation(HOST), ArrayLocation("C"), 4),
            FillStep(ArrayLocation("scratch-7"), 0, 4),
        ),
        scratch=(("scratch-7", 4 * N),),
        contents=(("content-1", zeros),),
        host_bytes=4,
    )
    before: list[bytes] = []

    def remembers(call: Call) -> None:
        before.append(call.array(0).tobytes())
        call.array(0)[:] = 1

    _, timing = replaying(tmp_path, recording).both(device(remembers=remembers, adds=adds))
    assert timing.findings == ()
    assert len(before) > 20
    assert before == [b"\xff" * 4 * N, zeros] * (len(before) // 2)


def test_variables_are_as_the_file_has_them_each_time(tmp_path: Path) -> None:
    """The module is loaded anew, once for all launches of one time."""
    steps = (
        launch("adds", ArrayLocation("A"), ArrayLocation("B"), ArrayLocation("count")),
        launch("adds", ArrayLocation("A"), ArrayLocation("B"), ArrayLocation("C")),
    )
    experiment = replaying(tmp_path, Recording(steps, variables=("count",)))
    on = device(adds=adds)
    answer = experiment.run(on, variables=True)
    replays = sum(function == "adds" for function, _, _ in on.timed) // 2
    assert on.loads == replays
    assert experiment.read(answer).findings == ()


def test_a_function_that_does_nothing_leaves_nothing(tmp_path: Path) -> None:
    """A function that launches nothing while it is recorded leaves no output when it is replayed."""
    _, timing = replaying(tmp_path, Recording(())).both(device())
    (finding,) = timing.findings
    assert "left elements of the output as they were before" in finding.message


@pytest.mark.parametrize("at", [0, 8])
def test_addresses_inside_of_structs_are_replaced(tmp_path: Path, at: int) -> None:
    """The bytes around an address stay as they are."""
    content = bytes(range(1, 17))
    step = LaunchStep("takes", ONE, ((content, ((at, ArrayLocation("A", 4)),)),))
    experiment = replaying(
        tmp_path,
        Recording((step, launch("adds", ArrayLocation("A"), ArrayLocation("B"), ArrayLocation("C")))),
    )
    given: list[bytes] = []

    def takes(call: Call) -> None:
        given.append(call.arguments[0].tobytes())

    experiment.run(device(takes=takes, adds=adds))
    rest = slice(8, 16) if at == 0 else slice(0, 8)
    assert {one[rest] for one in given} == {content[rest]}
    assert all(int.from_bytes(one[at : at + 8], "little") % 256 == 4 for one in given)


def from_host(*between: LaunchStep, arrays: str = "AB") -> Recording:
    """Arrays copied up, launches, and `C` copied back."""
    up = [CopyStep(ArrayLocation(f"d{name}"), ArrayLocation(name), 4 * N) for name in arrays]
    down = CopyStep(ArrayLocation("C"), ArrayLocation("dC"), 4 * N)
    return Recording((*up, *between, down), scratch=tuple((f"d{name}", 4 * N) for name in "ABC"))


ADDS = launch("adds", ArrayLocation("dA"), ArrayLocation("dB"), ArrayLocation("dC"))


def test_functions_with_arrays_on_the_host_copy_them_to_the_device_and_back(tmp_path: Path) -> None:
    """Within the time: what they leave on the host is what is looked at."""
    right = from_host(ADDS)
    experiment = replaying(tmp_path, right, naive=right, solution=right)
    _, timing = experiment.both(device(adds=adds))
    assert timing.findings == ()
    assert timing.verified == timing.launches > 0
    assert timing.speedup is not None
    assert timing.speedup.low < 1 < timing.speedup.high


def test_what_such_a_function_does_not_copy_is_nowhere_on_the_device(tmp_path: Path) -> None:
    """Neither its inputs, nor results of the calls before, wherever its kernel looks for them."""
    contents: list[bytes] = []

    def searches(call: Call) -> None:
        contents.append(call.device.everything())

    search = launch("searches", ArrayLocation("dC"))
    right, lazy = from_host(ADDS), from_host(search, arrays="A")
    experiment = replaying(tmp_path, lazy, naive=right, solution=right)
    _, timing = experiment.both(device(adds=adds, searches=searches))
    assert [str(finding.code) for finding in timing.findings]
    inputs = [np.load(tmp_path / f"timed/in-{number}-B.npy").tobytes() for number in range(2)]
    results = [expected.tobytes() for expected in experiment.expected]
    assert len(contents) > 20
    left = [any(one in content for one in (*inputs, *results)) for content in contents]
    assert not any(left)


def test_a_call_that_depends_on_its_inputs_is_replayed_by_input_set(tmp_path: Path) -> None:
    """An example is a loop that ends sooner for one of them."""
    called: list[str] = []

    def notes(name: str, call: Call) -> None:
        called.append(name)
        adds(call)

    recordings = [
        Recording((launch(name, ArrayLocation("A"), ArrayLocation("B"), ArrayLocation("C")),))
        for name in ("one", "two")
    ]
    on = device(one=partial(notes, "one"), two=partial(notes, "two"))
    answer, timing = replaying(tmp_path, *recordings).both(on)
    assert timing.findings == ()
    columns = answer["columns"]
    sets = [
        number for number, name in zip(columns["set"], columns["kernel"], strict=True) if name == "student"
    ]
    assert called[-len(sets) :] == [("one", "two")[number] for number in sets]


A, B, C, D = (FillStep(ArrayLocation(name), 0, 4) for name in "abcd")


@pytest.mark.parametrize(
    ("one", "other", "repeats"),
    [
        ((A, B, D), (A, B, B, D), True),
        ((A, D), (A, B, C, B, C, D), True),
        ((), (A,), True),
        ((A, B), (A, C), False),
        ((A, B, D), (A, C, C, D), False),
        ((A, B), (B, A, C), False),
    ],
)
def test_one_more_run_of_steps_is_a_repetition(one: Steps, other: Steps, *, repeats: bool) -> None:
    """The order is irrelevant; other steps are no repetition, because they could reveal results."""
    assert differ_by_repeating(one, other) is repeats
    assert differ_by_repeating(other, one) is repeats
