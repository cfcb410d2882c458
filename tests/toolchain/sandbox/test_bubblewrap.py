"""The bubblewrap sandbox, where bubblewraps can be made."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import OurError, ToolMissing
from grader.toolchain.sandbox import Job, Limits, Stage, bubblewrap
from grader.toolchain.sandbox.bubblewrap import BubblewrapSandbox
from tests.toolchain.sandbox import enclosures

if TYPE_CHECKING:
    from pathlib import Path

real = pytest.mark.docker


@pytest.fixture
def sandbox() -> BubblewrapSandbox:
    """The sandbox under test; a machine without it fails here, as these tests were asked for."""
    assert bubblewrap.trouble() == ""
    return BubblewrapSandbox()


@real
@pytest.mark.parametrize("behaviour", enclosures.EVERY, ids=lambda behaviour: behaviour.__name__)
def test_it_shuts_jobs_in(sandbox: BubblewrapSandbox, behaviour: enclosures.Behaviour) -> None:
    """It does what every sandbox for strangers' code must do."""
    behaviour(sandbox)


@real
def test_jobs_see_nothing_of_this_machine(sandbox: BubblewrapSandbox, tmp_path: Path) -> None:
    """Not a file that everybody could read."""
    secret = tmp_path / "secret"
    secret.write_text("42")
    enclosures.jobs_see_nothing(sandbox, str(secret))


@real
def test_the_folders_that_it_was_given_can_be_read(tmp_path: Path) -> None:
    """Also where they lie in the temporary folder, of which a job has its own."""
    (tmp_path / "compiler").write_text("42")
    sandbox = BubblewrapSandbox((str(tmp_path),))
    assert sandbox.run(Job(("cat", str(tmp_path / "compiler")))).outcome.stdout == b"42"
    assert not sandbox.run(Job(("sh", "-c", f"echo x > {tmp_path}/compiler"))).outcome.ok


MARKED = "import os; print(os.stat('/proc/1/ns/mnt').st_ino)"
"""Distinguishes one bubblewrap from another."""


@real
def test_jobs_of_a_stage_follow_each_other_in_one_bubblewrap(sandbox: BubblewrapSandbox) -> None:
    """Starting one takes longer than most of a compiler's steps; another stage gets another one."""
    with sandbox.stage(Stage()) as inside:
        first, second = (enclosures.outcome_of(inside, MARKED).stdout for _ in range(2))
    with sandbox.stage(Stage()) as inside:
        other = enclosures.outcome_of(inside, MARKED).stdout
    assert first == second
    assert first.strip().isdigit()
    assert other != first


@real
@pytest.mark.parametrize(
    "leaves",
    [
        "open('/tmp/x', 'w').close()",
        "open('/dev/shm/x', 'w').close()",
        "import os, signal; os.kill(os.getppid(), signal.SIGKILL)",
        "open('/proc/1/fd/1', 'wb').write(bytes(64))",
        "import os; os.makedirs('x/y'); os.chmod('x', 0o500)",
    ],
)
def test_what_a_job_leaves_is_not_there_for_the_next(sandbox: BubblewrapSandbox, leaves: str) -> None:
    """Files beside its folder, a supervisor that is no more, words in its answer, folders that stay."""
    seen = "import os; print(os.listdir('/tmp'), os.listdir('/dev/shm'), len(os.listdir('..')))"
    with sandbox.stage(Stage()) as inside:
        enclosures.outcome_of(inside, leaves)
        assert enclosures.outcome_of(inside, seen).stdout == b"[] [] 1\n"


@real
def test_jobs_with_other_limits_get_another_bubblewrap(sandbox: BubblewrapSandbox) -> None:
    """The size of its folder is the bubblewrap's own."""
    size = "import os; s = os.statvfs('/job'); print(s.f_blocks * s.f_frsize >> 20)"
    with sandbox.stage(Stage()) as inside:
        sizes = [enclosures.outcome_of(inside, size, Limits(disk_bytes=m << 20)).stdout for m in (8, 16)]
    assert sizes == [b"8\n", b"16\n"]


@real
def test_jobs_of_other_threads_get_a_bubblewrap_each(sandbox: BubblewrapSandbox) -> None:
    """One ends with the thread that began it, also in the middle of the stage."""
    with sandbox.stage(Stage()) as inside:
        with ThreadPoolExecutor(1) as pool:
            beside = pool.submit(enclosures.outcome_of, inside, MARKED).result()
        own = enclosures.outcome_of(inside, MARKED)
    assert beside.ok
    assert own.ok
    assert beside.stdout != own.stdout


def test_without_bubblewrap_the_message_explains_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the package."""
    monkeypatch.setenv("PATH", "")
    bubblewrap._wrap.cache_clear()
    assert "apt-get install bubblewrap" in bubblewrap.trouble()
    with pytest.raises(ToolMissing, match="apt-get install bubblewrap"):
        BubblewrapSandbox().run(Job(("true",)))


def test_where_namespaces_are_forbidden_it_is_our_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message of bwrap is passed on, with what may be done about it."""
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    bubblewrap._wrap.cache_clear()
    with pytest.raises(OurError, match=r"uid map: Permission denied.*unprivileged_userns"):
        BubblewrapSandbox().run(Job(("true",)))


def test_a_gpu_is_not_for_it() -> None:
    """The message names the sandbox to use instead."""
    with pytest.raises(OurError, match="--sandbox docker"):
        BubblewrapSandbox().run(Job(("true",), gpu="GPU-1"))
