"""Containers for real: what a job can do in one, what is left of it, and what an engine's trouble becomes."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import OurError
from grader.toolchain.sandbox import Job, Limits, Stage, Status, containers, docker, engine
from grader.toolchain.sandbox.docker import DockerSandbox, profile
from grader.toolchain.sandbox.image import SandboxImage, find_image
from tests.toolchain.sandbox import enclosures

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.docker

HOGS = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        held = bytearray(40 << 20)
        time.sleep(5)
        os._exit(0)
raise SystemExit(max(os.wait()[1] for _ in range(8)) and 1)
"""
FILES = """
try:
    for number in range(1000):
        open(str(number), "w").close()
except OSError as problem:
    print(number, problem.strerror)
"""
FULL = """
try:
    open("big", "wb").write(bytes(4 << 20))
except OSError as problem:
    print(problem.strerror)
"""
FORKS = """
import os, time
try:
    for number in range(1000):
        if os.fork() == 0:
            time.sleep(5)
except OSError:
    print(number)
"""
DIES = """
import os
from grader.toolchain.sandbox import Job, Stage
from grader.toolchain.sandbox.docker import DockerSandbox, profile
from grader.toolchain.sandbox.image import find_image
with DockerSandbox(find_image("build"), profile()).stage(Stage()) as inside:
    inside.run(Job(("/usr/bin/sleep", "0")))
    print(inside._container, flush=True)
    os._exit(9)
"""


@pytest.fixture(scope="module")
def image() -> SandboxImage:
    """The image that `grader doctor --build-image` made; without it these tests fail."""
    with closing(engine.connect()) as client:
        found = find_image("build", client)
    assert found is not None, "make the image first: grader doctor --build-image"
    return found


@pytest.fixture
def sandbox(image: SandboxImage) -> DockerSandbox:
    """The sandbox under test."""
    return DockerSandbox(image, profile())


def ours() -> list[str]:
    """Containers of this process that are there."""
    return there([f"{name}={value}" for name, value in containers.owner_label().items()])


def there(labels: list[str]) -> list[str]:
    """Containers with these labels."""
    with closing(engine.connect()) as client:
        return [each["Id"] for each in client.api.containers(all=True, filters={"label": labels})]


@pytest.mark.parametrize("behaviour", enclosures.EVERY, ids=lambda behaviour: behaviour.__name__)
def test_it_shuts_jobs_in(sandbox: DockerSandbox, behaviour: enclosures.Behaviour) -> None:
    """It does what every sandbox for strangers' code must do, and leaves no container."""
    behaviour(sandbox)
    assert ours() == []


def test_jobs_see_nothing_of_this_machine(sandbox: DockerSandbox, tmp_path: Path) -> None:
    """Not a file that everybody could read."""
    secret = tmp_path / "secret"
    secret.write_text("42")
    enclosures.jobs_see_nothing(sandbox, str(secret))


def test_jobs_of_a_stage_share_a_container(sandbox: DockerSandbox) -> None:
    """It is started for the first job and removed at the end of the stage."""
    with sandbox.stage(Stage(enclosures.SHORT)) as inside:
        assert ours() == []
        started = "print(open('/proc/1/stat').read().split()[21])"
        names = {enclosures.outcome_of(inside, started).stdout for _ in "ab"}
        assert len(names) == len(ours()) == 1
    assert ours() == []


def test_all_processes_together_have_their_limits(sandbox: DockerSandbox) -> None:
    """Memory of many processes, files in number and in size, and processes in number."""
    limits = Limits(
        wall_seconds=8.0,
        memory_bytes=0,
        total_bytes=128 * 2**20,
        disk_bytes=2**20,
        disk_files=50,
        processes=20,
    )
    assert enclosures.outcome_of(sandbox, HOGS, limits).status is Status.MEMORY
    number, why = enclosures.outcome_of(sandbox, FILES, limits).stdout.split(maxsplit=1)
    assert int(number) < 50
    assert why == b"No space left on device\n"
    assert enclosures.outcome_of(sandbox, FULL, limits).stdout == b"No space left on device\n"
    assert int(enclosures.outcome_of(sandbox, FORKS, limits).stdout) < 30


def test_a_job_that_ends_its_container_costs_only_itself(sandbox: DockerSandbox) -> None:
    """The next job of the stage gets a new one."""
    with sandbox.stage(Stage(enclosures.SHORT)) as inside:
        outcome = enclosures.outcome_of(inside, "import os; os.kill(-1, 9)")
        assert outcome.status is Status.SIGNAL
        assert enclosures.outcome_of(inside, "print('next')").stdout == b"next\n"


def test_a_folder_that_an_earlier_job_filled_is_no_fault_of_the_next(sandbox: DockerSandbox) -> None:
    """The next job gets a new container, and its files with it."""
    fill = """
try:
    with open("/job/left", "wb") as file:
        while True:
            file.write(bytes(1 << 20))
            file.flush()
except OSError as problem:
    print(problem.strerror)
"""
    with sandbox.stage(Stage(enclosures.SHORT)) as inside:
        assert enclosures.outcome_of(inside, fill).stdout == b"No space left on device\n"
        enclosures.jobs_come_and_go(inside)


def test_an_engine_that_is_busy_for_a_moment_is_asked_again(
    sandbox: DockerSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One refusal costs no job anything."""
    refusals = iter([OurError("busy")])
    start = docker._start

    def busy_once(*given: object) -> str:
        for refusal in refusals:
            raise refusal
        return start(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(docker, "_start", busy_once)
    enclosures.jobs_come_and_go(sandbox)


def test_strays_are_removed_and_others_kept(sandbox: DockerSandbox) -> None:
    """A container whose grader has died goes; one whose grader works on stays."""
    died = subprocess.run([sys.executable, "-c", DIES], capture_output=True, text=True, check=False)
    stray = died.stdout.strip()
    with sandbox.stage(Stage(enclosures.SHORT)) as inside:
        enclosures.outcome_of(inside, "pass")
        kept = ours()
        assert containers.remove_strays() >= 1
        left = there([f"{containers.LABEL}=1"])
        assert stray not in left
        assert set(kept) <= set(left)


def test_an_image_that_is_gone_is_our_error(image: SandboxImage) -> None:
    """Not a student's."""
    gone = DockerSandbox(SandboxImage("sha256:" + "0" * 64, image.name, image.equipment), profile())
    with pytest.raises(OurError, match=r"[Nn]o such image"):
        gone.run(Job(("true",)))


# The SDK does not close the socket with which it failed to connect.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_engine_that_is_gone_is_our_error(sandbox: DockerSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the container engine."""
    docker.client().close()
    docker.client.cache_clear()
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    try:
        with pytest.raises(OurError, match="container engine"):
            sandbox.run(Job(("true",)))
    finally:
        docker.client.cache_clear()
        gc.collect()


@pytest.mark.parametrize(
    "call", ["ptrace", "unshare", "mount", "keyctl", "bpf", "perf", "io_uring", "module"]
)
def test_calls_that_no_job_needs_are_denied(sandbox: DockerSandbox, call: str) -> None:
    """The seccomp profile answers them with EPERM (or ENOSYS), whatever the kernel would have answered."""
    numbers = {
        "ptrace": 101,
        "unshare": 272,
        "mount": 165,
        "keyctl": 250,
        "bpf": 321,
        "perf": 298,
        "io_uring": 425,
        "module": 313,
    }
    script = (
        "import ctypes; libc = ctypes.CDLL(None, use_errno=True); "
        f"print(libc.syscall({numbers[call]}, 0, 0, 0, 0, 0), ctypes.get_errno())"
    )
    assert enclosures.outcome_of(sandbox, script).stdout in (b"-1 1\n", b"-1 38\n")


def test_owners_are_distinguished_by_when_they_started() -> None:
    """A later process with the same number is another one."""
    own = containers.owner_label()[containers.OWNER]
    assert containers._is_owned(own)
    number, started, boot = own.split(":")
    assert int(number) == os.getpid()
    assert not containers._is_owned(f"{number}:{int(started) + 1}:{boot}")
    assert not containers._is_owned("")
