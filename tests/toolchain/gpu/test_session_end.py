"""The harness does not outlive the tool around it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import session_end

FOLDER = Path(session_end.__file__).parent
HARNESS = (
    "import sys; sys.path.insert(0, '.'); "
    "import os, threading, time, session_end; session_end.end_with_session(); "
    "threads = threading.active_count(); "
    "os.fork() or time.sleep(60); print('begun', threads, flush=True); time.sleep(60)"
)


def started(*before: str) -> subprocess.Popen[bytes]:
    """Start a stand-in for a harness and a process of its own, in a session that begins with ``before``."""
    command = (*before, sys.executable, "-c", HARNESS)
    return subprocess.Popen(command, cwd=FOLDER, stdout=subprocess.PIPE, start_new_session=True)


def test_a_harness_ends_with_the_tool_that_it_runs_under() -> None:
    """The harness and its processes end even if the tool is killed and its exit status is never collected."""
    tool = started("/bin/sh", "-c", '"$@"; exit 0', "tool")
    assert tool.stdout is not None
    with tool.stdout:
        assert tool.stdout.readline() == b"begun 2\n"
        tool.send_signal(signal.SIGKILL)
        ended, _, _ = select.select([tool.stdout], [], [], 20)
        assert ended, "something that the tool had started runs on"
        assert tool.stdout.read() == b""
    assert tool.wait(10) == -signal.SIGKILL


def test_a_harness_without_a_tool_is_left_alone() -> None:
    """It begins its session itself: whoever started it ends it."""
    harness = started()
    assert harness.stdout is not None
    with harness.stdout:
        assert harness.stdout.readline() == b"begun 1\n"
        os.killpg(harness.pid, signal.SIGKILL)
    harness.wait(10)
