"""A sandbox that pretends to have a GPU: it answers the harness's jobs itself, and runs all others for real.

What "the device" does with a case is a function that tests choose; by itself it multiplies matrices.
"""

from __future__ import annotations

import io
import json
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from grader.toolchain.gpu.devices import Gpu
from grader.toolchain.gpu.request import ANSWER, npy, output_file
from grader.toolchain.gpu.sanitizer import FOUND
from grader.toolchain.gpu.tool_batches import unpacked
from grader.toolchain.sandbox import Equipment, Job, LocalSandbox, Outcome, Result, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.toolchain.sandbox import Stage

GPU = Gpu("GPU-00000000-0000-4000-8000-000000000000", "Pretended GPU", (9, 0), "580.00", (13, 0), 2**34)

Arrays = dict[str, NDArray[Any]]
Case = dict[str, Any]


def product(_case: Case, arrays: Arrays) -> Case:
    """Do what a correct kernel does: C = A @ B."""
    with np.errstate(all="ignore"):
        arrays["C"][...] = arrays["A"].astype(np.float64) @ arrays["B"].astype(np.float64)
    return {"state": "done", "seconds": 1e-5}


@dataclass
class PretendGpu:
    """Answers jobs that ask for a GPU; ``jobs`` keeps all of them."""

    behave: Callable[[Case, Arrays], Case] = product
    health: str = "ok"
    timing: dict[str, Any] | None = None
    forge: Callable[[str, dict[str, bytes]], dict[str, bytes]] = lambda _kind, files: files
    jobs: list[Job] = field(default_factory=list)

    name: ClassVar[str] = f"pretended-{os.getpid()}"
    """Runs of tools are shared by one kind of sandbox: processes of tests do not meet there."""
    shuts_in: ClassVar[bool] = False
    equipment: ClassVar[Equipment] = Equipment()

    @contextmanager
    def stage(self, _stage: Stage) -> Iterator[Self]:
        """The sandbox itself."""
        yield self

    def run(self, job: Job) -> Result:
        """A job for the compiler runs here, one for the GPU is answered."""
        if not job.gpu:
            return LocalSandbox().run(job)
        self.jobs.append(job)
        files = dict(job.files)
        request = json.loads(files["request.json"])
        if request["awaits"]:
            if not _came(Path(request["awaits"]), Path(job.stop_file)):
                return Result(Outcome(Status.TIME, -9, b"", b"", 0.1))
            launches = unpacked(Path(request["awaits"]).read_bytes())
            request |= {"kernels": launches.kernels, "cases": launches.cases}
            files |= dict(launches.files)
        tool = "" if request["mode"] == "run" else job.argv[job.argv.index("--tool") + 1]
        left = self._cases(request, files)
        if tool:
            left |= _clean(tool)
        left = self.forge(tool or "run", left)
        back = tuple((name, content) for name, content in left.items() if name in job.wanted)
        found = any(b"<record>" in content for name, content in back if name.endswith(".xml"))
        return Result(Outcome(Status.EXIT, FOUND if found else 0, b"", b"", 0.1), back)

    def _cases(self, request: dict[str, Any], files: dict[str, bytes]) -> dict[str, bytes]:
        left: dict[str, bytes] = {}
        answers = []
        for case in request["cases"]:
            arrays = {
                a["name"]: np.load(io.BytesIO(files[a["file"]])) for a in case["arguments"] if "file" in a
            }
            answer = {"name": case["name"], **self.behave(case, arrays)}
            if answer["state"] == "done" and request["mode"] != "concurrent":
                written = [a["name"] for a in case["arguments"] if a["direction"] in ("out", "inout")]
                left |= {output_file(int(case["name"]), name): npy(arrays[name]) for name in written}
            answers.append(answer)
        timing = self.timing if request["timing"] else None
        answer = {"format": 1, "health": self.health, "cases": answers, "timing": timing}
        return left | {ANSWER: json.dumps(answer).encode()}


def _came(awaited: Path, stop_file: Path) -> bool:
    """Wait until a file appears; return False if the stop file appears first."""
    while not awaited.exists():
        if stop_file.exists():
            return False
        time.sleep(0.005)
    return True


def _clean(tool: str) -> dict[str, bytes]:
    """The files of a tool that found nothing, as captured."""
    summary = "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"
    last = summary if tool == "racecheck" else "ERROR SUMMARY: 0 errors"
    return {
        f"{tool}.log": f"========= COMPUTE-SANITIZER\n========= {last}\n".encode(),
        f"{tool}.xml": b'<?xml version="1.0" encoding="utf-8"?>\n<ComputeSanitizerOutput/>\n',
    }
