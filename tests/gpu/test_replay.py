"""A function's recorded work, replayed in timed rounds: what it has of its own is new each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.gpu.replay import CopyStep, FillStep, LaunchStep, Place, Recording
from grader.model import Launch
from tests.gpu.fake_clock import Call, FakeDevice, Kernel, N, adds, device_with
from tests.gpu.timed_experiment import Experiment

if TYPE_CHECKING:
    from pathlib import Path

ONE = Launch((1, 1, 1), (N, 1, 1), 0)


def launch(entry: str, *places: Place) -> LaunchStep:
    """A launch with arrays at these places."""
    return LaunchStep(entry, ONE, tuple((bytes(8), ((0, place),)) for place in places))


def replaying(folder: Path, recording: Recording) -> Experiment:
    """An experiment whose student's kernel is a function that asked for this."""
    files: dict[str, bytes] = {}
    described = recording.described("student", files)
    experiment = Experiment.make(folder, recordings={"student": described})
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
            CopyStep(Place("scratch-1"), Place("A"), size),
            launch("increases", Place("scratch-1"), Place("B")),
            CopyStep(Place("C"), Place("scratch-1"), size // 2),
            CopyStep(Place("C", size // 2), Place("scratch-1", size // 2), size // 2),
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
    """It is filled with 0xFF before each time, and what was copied from the host is copied anew."""
    zeros = np.zeros(N, np.float32).tobytes()
    recording = Recording(
        (
            launch("remembers", Place("scratch-7"), Place("content-1")),
            launch("adds", Place("A"), Place("B"), Place("C")),
            FillStep(Place("scratch-7"), 0, 4),
        ),
        scratch=(("scratch-7", 4 * N),),
        contents=(("content-1", zeros),),
    )
    before: list[tuple[bytes, bytes]] = []

    def remembers(call: Call) -> None:
        scratch, content = call.array(0), call.array(1)
        before.append((scratch.tobytes(), content.tobytes()))
        scratch[:], content[:] = 1, 2

    _, timing = replaying(tmp_path, recording).both(device(remembers=remembers, adds=adds))
    assert timing.findings == ()
    assert len(before) > 10
    assert set(before) == {(b"\xff" * 4 * N, zeros)}


def test_variables_are_as_the_file_has_them_each_time(tmp_path: Path) -> None:
    """The module is loaded anew, once for all launches of one time."""
    steps = (
        launch("adds", Place("A"), Place("B"), Place("count")),
        launch("adds", Place("A"), Place("B"), Place("C")),
    )
    experiment = replaying(tmp_path, Recording(steps, variables=("count",)))
    on = device(adds=adds)
    answer = experiment.run(on, variables=True)
    replays = sum(function == "adds" for function, _, _ in on.timed) // 2
    assert on.loads == replays
    assert experiment.read(answer).findings == ()


def test_a_function_that_does_nothing_leaves_nothing(tmp_path: Path) -> None:
    """Whoever launches nothing when its work is recorded has no right output when it is replayed."""
    _, timing = replaying(tmp_path, Recording(())).both(device())
    (finding,) = timing.findings
    assert "left elements of the output as they were before" in finding.message


@pytest.mark.parametrize("at", [0, 8])
def test_addresses_inside_of_structs_are_replaced(tmp_path: Path, at: int) -> None:
    """Whatever stands around them stays."""
    content = bytes(range(1, 17))
    step = LaunchStep("takes", ONE, ((content, ((at, Place("A", 4)),)),))
    experiment = replaying(tmp_path, Recording((step, launch("adds", Place("A"), Place("B"), Place("C")))))
    given: list[bytes] = []

    def takes(call: Call) -> None:
        given.append(call.arguments[0].tobytes())

    experiment.run(device(takes=takes, adds=adds))
    rest = slice(8, 16) if at == 0 else slice(0, 8)
    assert {one[rest] for one in given} == {content[rest]}
    assert all(int.from_bytes(one[at : at + 8], "little") % 256 == 4 for one in given)
