"""Checks of what every sandbox that shuts jobs in must do, written once for all of them."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, TypeAlias

from grader.toolchain.sandbox import Job, Limits, Stage, Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.toolchain.sandbox import Outcome, Sandbox

    Behaviour: TypeAlias = Callable[[Sandbox], None]

HUNGRY = "try: x = bytearray(1 << 30)\nexcept MemoryError: raise SystemExit('out of memory')"
SHORT = Limits(wall_seconds=3.0, memory_bytes=0, total_bytes=256 * 2**20, disk_bytes=32 * 2**20)


def python(sandbox: Sandbox, script: str, limits: Limits = SHORT, **more: bytes) -> Job:
    """A job that runs a Python program of ours."""
    interpreter = sandbox.equipment.python or "/usr/bin/python3"
    return Job((interpreter, "-I", "-S", "-c", script), (("given", b"12"),), ("made",), limits, **more)  # type: ignore[arg-type]


def outcome_of(sandbox: Sandbox, script: str, limits: Limits = SHORT) -> Outcome:
    """Run a Python program of ours in a sandbox, and return its outcome."""
    return sandbox.run(python(sandbox, script, limits)).outcome


def jobs_come_and_go(sandbox: Sandbox) -> None:
    """Files, standard input, both streams and the exit status go where they belong."""
    script = "open('made', 'wb').write(open('given', 'rb').read()); print(input()); raise SystemExit('x')"
    result = sandbox.run(python(sandbox, script, stdin=b"in\n"))
    assert (result.outcome.status, result.outcome.returncode) == (Status.EXIT, 1)
    assert (result.outcome.stdout, result.outcome.stderr) == (b"in\n", b"x\n")
    assert result.files == (("made", b"12"),)


def jobs_have_no_rights(sandbox: Sandbox) -> None:
    """No capability, no way to get one, and an ordinary user."""
    output = outcome_of(
        sandbox, "import os; print(os.getuid(), open('/proc/self/status').read())"
    ).stdout.decode()
    assert output.startswith("65532 ")
    facts = dict(line.split(":\t", 1) for line in output.splitlines() if ":\t" in line)
    assert {facts[f"Cap{kind}"] for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {"0" * 16}
    assert facts["NoNewPrivs"].strip() == "1"


def jobs_see_nothing(sandbox: Sandbox, secret: str) -> None:
    """No network but an empty loopback, no process but their own, no file of this machine's users."""
    script = f"""
import json, os, socket
seen = {{"processes": len([p for p in os.listdir("/proc") if p.isdigit()])}}
seen["secret"] = os.path.exists({secret!r})
seen["interfaces"] = [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]]
seen["docker"] = os.path.exists("/var/run/docker.sock")
print(json.dumps(seen))
"""
    seen = json.loads(outcome_of(sandbox, script).stdout)
    assert seen["processes"] <= 8
    assert (seen["secret"], seen["docker"]) == (False, False)
    assert set(seen["interfaces"]) <= {"lo"}


def jobs_write_nowhere_else(sandbox: Sandbox) -> None:
    """Only small folders can be written, and none of them for long."""
    script = """
import os
for folder, _, _ in os.walk("/", topdown=True):
    if folder.startswith(("/proc", "/sys")):
        continue
    try:
        open(os.path.join(folder, "x"), "w").close()
        print(folder)
    except OSError:
        pass
"""
    places = outcome_of(sandbox, script, Limits(wall_seconds=20.0, memory_bytes=0)).stdout.decode().split()
    assert {place.split("/")[1] for place in places} <= {"job", "tmp", "dev"}
    assert {place for place in places if place.startswith("/dev")} <= {"/dev/shm"}  # noqa: S108 - it may write there
    again = outcome_of(sandbox, "import os; print(os.path.exists('/tmp/x'), os.path.exists('/dev/shm/x'))")
    assert again.stdout == b"False False\n"


def limits_end_jobs(sandbox: Sandbox) -> None:
    """Limits of time, memory and output, and a signal, each have a status of their own."""
    endings: dict[str, Callable[[], Outcome]] = {
        "time": lambda: outcome_of(sandbox, "while True: pass", Limits(wall_seconds=0.5, memory_bytes=0)),
        "memory": lambda: outcome_of(sandbox, HUNGRY, Limits(memory_bytes=300 * 2**20)),
        "output-limit": lambda: outcome_of(sandbox, "while True: print('x' * 1000)"),
        "signal": lambda: outcome_of(sandbox, "import os; os.abort()"),
    }
    assert {name: str(run().status) for name, run in endings.items()} == {name: name for name in endings}


def killers_of_their_supervisor_end(sandbox: Sandbox) -> None:
    """A job that kills what watches over it is ended, as killed; the next job runs."""
    with sandbox.stage(Stage(SHORT)) as inside:
        outcome = outcome_of(inside, "import os, signal; os.kill(os.getppid(), signal.SIGKILL)")
        assert (outcome.status, outcome.returncode) == (Status.SIGNAL, -signal.SIGKILL)
        assert outcome_of(inside, "print('next')").stdout == b"next\n"


def supervisors_cannot_be_looked_into(sandbox: Sandbox) -> None:
    """A job neither reads the memory of its supervisor nor opens its streams."""
    script = """
import os
for name in ("mem", "fd/0", "fd/1", "environ", "maps"):
    try:
        open(f"/proc/{os.getppid()}/{name}", "rb").read(1)
        print("reached", name)
    except OSError:
        pass
"""
    assert outcome_of(sandbox, script).stdout == b""


def daemons_end(sandbox: Sandbox) -> None:
    """A process that forks twice, in its own session, ends with its job, and the job does not wait for it."""
    script = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(60)
    os._exit(0)
"""
    with sandbox.stage(Stage(SHORT)) as inside:
        outcome = outcome_of(inside, script)
        assert outcome.status is Status.EXIT
        sleepers = """
import os
for process in filter(str.isdigit, os.listdir("/proc")):
    try:
        if b"time.sleep(60)" in open(f"/proc/{process}/cmdline", "rb").read() and int(process) != os.getpid():
            print(process)
    except OSError:
        pass
"""
        assert outcome_of(inside, sleepers).stdout == b""


EVERY = (
    jobs_come_and_go,
    jobs_have_no_rights,
    jobs_write_nowhere_else,
    limits_end_jobs,
    killers_of_their_supervisor_end,
    supervisors_cannot_be_looked_into,
    daemons_end,
)
"""Tests that need nothing but a sandbox."""
