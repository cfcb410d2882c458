"""The time that a program takes by itself: counted where its device waits for it, and nowhere else."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from grader.running.device.host_clock import HostClock

if TYPE_CHECKING:
    from pathlib import Path


def _ran(clock: HostClock, stop_file: Path, seconds: float, *, allowed: float) -> bool:
    """Return whether the clock makes its file within a number of seconds."""
    over = threading.Event()
    watch = threading.Thread(target=clock.run, args=(allowed, stop_file, over))
    watch.start()
    watch.join(seconds)
    over.set()
    watch.join()
    return stop_file.exists()


def test_a_program_that_is_silent_for_too_long_is_reported(tmp_path: Path) -> None:
    """As soon as it has taken what it may, and not before."""
    began = time.monotonic()
    assert _ran(HostClock(), tmp_path / "stop", 20, allowed=0.3)
    assert time.monotonic() - began >= 0.3


def test_the_time_of_a_launch_is_not_the_programs(tmp_path: Path) -> None:
    """The emulator has an account of its own."""
    assert not _ran(HostClock(is_waiting=False), tmp_path / "stop", 0.5, allowed=0.1)


def test_a_program_that_calls_its_device_all_the_time_takes_none_by_itself(tmp_path: Path) -> None:
    """The time between two calls belongs to the conversation, and depends on the machine."""
    clock, done = HostClock(), threading.Event()

    def call() -> None:
        while not done.wait(0.001):
            clock.received += 1

    calls = threading.Thread(target=call)
    calls.start()
    try:
        assert not _ran(clock, tmp_path / "stop", 0.8, allowed=0.6)
    finally:
        done.set()
        calls.join()


def test_a_clock_ends_with_its_program(tmp_path: Path) -> None:
    """It leaves no file."""
    assert not _ran(HostClock(), tmp_path / "stop", 0.0, allowed=10.0)
