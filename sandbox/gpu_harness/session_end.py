"""The end of the harness when its session has ended.

Whoever runs the harness starts a session for it (`grader.toolchain.sandbox.supervisor`), whose first process
is the harness or the tool around it, and ends all of the session with it. If that process is killed together
with the grader, the session is not ended, and a kernel that hangs would keep the device for ever.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

_INTERVAL = 1.0
"""Seconds between two looks at the session's first process."""


def end_with_session() -> None:
    """Let this process, and its process group, end as soon as the first process of its session has ended."""
    leader = os.getsid(0)
    can_be_seen = leader and Path("/proc/self/stat").exists()
    if can_be_seen and leader != os.getpid():
        threading.Thread(target=_follow, args=(leader,), daemon=True).start()


def _follow(leader: int) -> None:
    while not _has_ended(leader):
        time.sleep(_INTERVAL)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _has_ended(process: int) -> bool:
    """True if a process is gone, or only waits for its exit status to be asked for (proc(5))."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    return text.rpartition(")")[2].split()[0] in "ZX"
