"""The real harness, with its processes, pipes and limits, on the fake device."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import harness

from grader.toolchain.gpu.answer import read_answer
from tests.toolchain.gpu.fake_device import FakeDevice

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from tests.toolchain.gpu.harness_jobs import Answered, HarnessJob

SHORT = {"case": 0.4, "after_timeout": 0.3, "probe": 5.0, "total": 60.0}
"""Limits for jobs in which something hangs."""


def run(job: HarnessJob) -> Answered:
    """Run the harness on a job; what it left must be what the host accepts."""
    assert harness.main([job.write()], lambda **_: FakeDevice(job.folder)) == 0
    read_answer((job.folder / "result.json").read_bytes())
    return job.answer()


def put_timing(monkeypatch: pytest.MonkeyPatch, rounds: Callable[..., Any]) -> None:
    """Put a function in the place of the timed rounds."""
    monkeypatch.setitem(sys.modules, "timing", SimpleNamespace(run=rounds))
