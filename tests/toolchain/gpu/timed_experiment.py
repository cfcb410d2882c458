"""A whole timing run on the fake device: the plan, the files that it names, and what the oracle expects."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from timing import run

from grader.grading.arguments import poison
from grader.toolchain.gpu.timing import TimingQuestion, read_timing
from tests.toolchain.gpu.fake_clock import N

if TYPE_CHECKING:
    from pathlib import Path

    from device import Device
    from numpy.typing import NDArray

    from grader.model import Timing
    from tests.toolchain.gpu.fake_clock import FakeDevice

SETS = 2
KERNELS = ("naive", "student", "solution")


@dataclass
class Experiment:
    """A plan, the files that it names, and what the oracle expects."""

    folder: Path
    plan: dict[str, Any]
    expected: list[NDArray[np.float32]]

    @classmethod
    def make(cls, folder: Path, **changes: Any) -> Experiment:  # noqa: ANN401 - keys of the plan
        """C = A + B on two input sets of 96 numbers; settles 1.25 unless the plan is changed."""
        rng = np.random.default_rng(7)
        (folder / "timed").mkdir()
        sets, expected = [], []
        for index in range(SETS):
            arrays = {name: rng.uniform(-1, 1, N).astype(np.float32) for name in "AB"}
            expected.append(arrays["A"] + arrays["B"])
            arrays["C"] = np.full(N, poison("float32"))
            listed: list[dict[str, Any]] = []
            for name, array in arrays.items():
                file = f"timed/in-{index}-{name}.npy"
                np.save(folder / file, array)
                direction = "out" if name == "C" else "in"
                listed.append({"name": name, "direction": direction, "file": file, "offset": 0})
            sets.append([*listed, {"name": "n", "direction": "value", "dtype": "int32", "value": N}])
        launch = {"grid": [1, 1, 1], "block": [96, 1, 1], "shared": 0}
        plan = {
            "baseline": "naive",
            "solution": "solution",
            "launches": dict.fromkeys(KERNELS, launch),
            "sets": sets,
            "widths": {},
            "seed": 123456,
            "settle": [[1.25, 0.0]],
            "budget_seconds": 0.6,
            "warm_seconds": 0.25,
            "least_rounds": 20,
            "most_rounds": 400,
            "resamples": 1000,
            "level": 0.99,
            "kept_outputs": 4,
            "flops": None,
            "library": None,
            "lock": None,
        }
        return cls(folder, plan | changes, expected)

    def run(self, device: FakeDevice, *, variables: bool = False) -> dict[str, Any]:
        """The answer, as it comes out of JSON; with ``variables`` in the student's module, if it has any."""
        images: dict[str, dict[str, Any]] = {
            name: {"image": f"{name}.cubin", "entry": name} for name in ("naive", "student", "solution")
        }
        images["student"]["variables"] = variables
        answer = run(cast("Device", device), self.plan, images, self.folder, lambda: device.now)
        read: dict[str, Any] = json.loads(json.dumps(answer, allow_nan=False))
        return read

    def read(self, answer: dict[str, Any], **changes: Any) -> Timing:  # noqa: ANN401 - fields of a TimingQuestion
        """Read an answer as the host does."""
        outputs = {
            (each["set"], each["digest"]): {each["array"]: np.load(self.folder / each["file"])}
            for each in answer.get("outputs", [])
        }
        values = [each.astype(np.float64) for each in self.expected]
        expected = tuple({"C": (value, np.full(N, 1e-6))} for value in values)
        return read_timing(answer, outputs, TimingQuestion(self.plan, expected, file="student.cu", **changes))

    def both(self, device: FakeDevice) -> tuple[dict[str, Any], Timing]:
        """The answer, and what the host makes of it."""
        answer = self.run(device)
        return answer, self.read(answer)
