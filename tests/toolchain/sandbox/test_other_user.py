"""Jobs as other users: they read nothing of the grader's, and nothing of theirs is left."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from grader.base.errors import OurError, ToolMissing
from grader.toolchain.sandbox import Job, Limits, Status
from grader.toolchain.sandbox.local import FIRST, MANY, OtherUserSandbox

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start programs as another user")


def shell(script: str, *wanted: str, wall_seconds: float = 20.0) -> Job:
    """A job that runs a script of ours beside a file."""
    files = (("given", b"12"), ("inner/deep", b"x"))
    return Job(("/bin/sh", "-c", script), files, wanted, Limits(wall_seconds=wall_seconds))


def user_output(script: str) -> str:
    """Run a script as another user, and return what it prints."""
    return OtherUserSandbox().run(shell(script)).outcome.stdout.decode()


@as_root
def test_files_come_and_go() -> None:
    """The job owns its folder and what lies there, and what it leaves comes back."""
    result = OtherUserSandbox().run(
        shell("cat given >made; echo y >>inner/deep; rm given", "made", "inner/deep")
    )
    assert result.outcome.ok, result.outcome.stderr
    assert result.files == (("made", b"12"), ("inner/deep", b"xy\n"))


@as_root
def test_every_job_runs_as_another_user_without_rights() -> None:
    """Neither root nor the job before it, in no group of ours, and with no way to more rights."""
    first, second = (user_output("id -u; id -G; cat /proc/self/status").splitlines() for _ in range(2))
    assert first[0] == first[1] != second[0]
    assert FIRST <= int(first[0]) < FIRST + MANY
    facts = dict(line.split(":\t", 1) for line in second if ":\t" in line)
    assert (facts["CapEff"], facts["CapPrm"], facts["NoNewPrivs"]) == ("0" * 16, "0" * 16, "1")


@as_root
def test_what_is_the_graders_cannot_be_read(tmp_path: Path) -> None:
    """Not a file in a folder of root's alone, by its name, by a link, or through /proc."""
    (tmp_path / "hidden").write_text("42", encoding="utf-8")
    tmp_path.chmod(0o700)
    assert (
        user_output(f"cat {tmp_path}/hidden /proc/{os.getpid()}/environ; ln -s {tmp_path}/hidden l; cat l")
        == ""
    )
    result = OtherUserSandbox().run(shell(f"ln -s {tmp_path}/hidden made", "made"))
    assert result.files == ()


@as_root
def test_nothing_of_a_job_is_left() -> None:
    """A process in a session of its own ends with the job, and so does one that outlives its time."""
    job = shell("setsid sleep 987654 >/dev/null 2>&1 & echo $!; exit 0")
    process = int(OtherUserSandbox().run(job).outcome.stdout)
    outcome = OtherUserSandbox().run(shell("setsid sleep 987654 & wait", wall_seconds=0.3)).outcome
    assert outcome.status is Status.TIME
    for _ in range(50):
        if not _is_running(process):
            break
        time.sleep(0.1)
    assert not _is_running(process)


def _is_running(process: int) -> bool:
    try:
        return b"sleep" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def test_only_root_can_have_other_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without that right nothing is run as the grader's own user instead."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(OurError, match="only where the grader is root"):
        OtherUserSandbox().run(shell("true"))


@as_root
def test_without_the_program_that_changes_users_the_message_explains_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The message names the package."""
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ToolMissing, match="apt-get install util-linux"):
        OtherUserSandbox().run(shell("true"))
