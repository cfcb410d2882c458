"""Launches kernels on a GPU inside a sandbox, as a request asks for it, and reports what came of it.

``python harness.py request.json`` leaves ``result.json`` and the arrays that it names in the folder of the
request. It knows no expected value and decides nothing: what it says is read outside as if an enemy had
written it. What kernels print goes nowhere: it could be a flood, and it means nothing.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from busy_clock import BusyClock
from concurrent_launches import run_concurrently
from device import Device, load_library
from device_fault import description
from results import Results
from session_end import end_with_session
from supervisor import Supervisor
from tasks import Job, run_in_this_process

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def main(arguments: Sequence[str], open_device: Callable[..., Device] | None = None) -> int:
    """Do what the request asks for; 0 where ``result.json`` is complete, whatever happened to the kernels."""
    begun = time.monotonic()
    (file,) = arguments
    folder = Path(file).resolve().parent
    request = json.loads(Path(file).read_text(encoding="utf-8"))
    results = Results(folder)
    try:
        if open_device is None and request["mode"] == "run":
            load_library()
        results.seconds["import"] = time.monotonic() - begun
        job = Job(request, folder, open_device or Device, BusyClock())
        MODES[request["mode"]](job, results, begun)
    except Exception as problem:  # noqa: BLE001 - whatever it is, it is ours, and is said where all is said
        results.error = ": ".join(description(problem))
    results.write()
    return 0


def _run(job: Job, results: Results, begun: float) -> None:
    """With processes that may hang or die: for what kernels compute, and how fast."""
    Supervisor(job, results, begun + job.seconds("total")).run()


def _sanitize(job: Job, results: Results, begun: float) -> None:
    """In this one process, which a tool watches."""
    results.write()
    current = 0

    def send(kind: str, value: Any) -> None:  # noqa: ANN401 - JSON
        nonlocal current
        if kind == "device":
            results.device, results.seconds["context"] = value
        elif kind == "begin":
            current = value
            results.begin(current, job.cases[current]["name"])
        else:
            results.add(current, {"places": value} if kind == "places" else value)
        results.write()

    run_in_this_process(job, results, send)
    results.seconds["cases"] = time.monotonic() - begun


def _concurrent(job: Job, results: Results, begun: float) -> None:
    """The same, several launches at a time; the first that goes wrong ends it."""
    results.write()

    def send(kind: str, value: Any) -> None:  # noqa: ANN401 - JSON
        if kind == "device":
            results.device, results.seconds["context"] = value
        else:
            results.done(value)
        results.write()

    run_concurrently(job, send)
    results.seconds["cases"] = time.monotonic() - begun


def silence() -> None:
    """Let the standard output lead nowhere, in this process and those that it forks."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


MODES: dict[str, Callable[[Job, Results, float], None]] = {
    "run": _run,
    "sanitize": _sanitize,
    "concurrent": _concurrent,
}

if __name__ == "__main__":
    silence()
    end_with_session()
    sys.exit(main(sys.argv[1:]))
