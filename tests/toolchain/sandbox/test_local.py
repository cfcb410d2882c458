"""The local sandbox: how jobs end, what they may write, what comes back."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import StorageError, ToolMissing
from grader.toolchain.sandbox import Job, Limits, LocalSandbox, Stage, Status, supervisor
from grader.toolchain.sandbox.local import _ending_with_us, _without_network, check_room
from grader.toolchain.sandbox.supervisor import fetch

if TYPE_CHECKING:
    from collections.abc import Iterator

PYTHON = (sys.executable, "-I", "-S", "-c")
MEBIBYTE = 2**20


def shell(script: str, limits: Limits | None = None) -> Job:
    """A job that runs a script of ours."""
    return Job(("/bin/sh", "-c", script), limits=limits or Limits())


@pytest.fixture
def sandbox() -> LocalSandbox:
    """The sandbox under test."""
    return LocalSandbox()


def test_streams_and_return_code_come_back(sandbox: LocalSandbox) -> None:
    """Both streams are kept apart, and a failing program is an ordinary exit."""
    outcome = sandbox.run(shell("echo out; echo err >&2; exit 3")).outcome
    assert (outcome.status, outcome.returncode) == (Status.EXIT, 3)
    assert (outcome.stdout, outcome.stderr) == (b"out\n", b"err\n")
    assert not outcome.ok


def test_arguments_are_no_shell_text(sandbox: LocalSandbox) -> None:
    """Text that looks like a command inside an argument stays text."""
    outcome = sandbox.run(Job(("echo", "$(id); `id` > x", "*"))).outcome
    assert outcome.stdout == b"$(id); `id` > x *\n"


def test_environment_is_minimal(sandbox: LocalSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job sees neither the grader's variables nor its home, but what it was given."""
    monkeypatch.setenv("SECRET", "42")
    outcome = sandbox.run(Job(("env",), environment=(("GIVEN", "yes"),))).outcome
    variables = dict(line.split("=", 1) for line in outcome.stdout.decode().splitlines())
    assert set(variables) <= {"PATH", "HOME", "TMPDIR", "LC_ALL", "GIVEN", "PWD"}
    assert variables["GIVEN"] == "yes"
    assert variables["HOME"] == variables["TMPDIR"] != os.environ.get("HOME")


def test_a_folder_where_no_program_may_run_is_no_fault_of_the_program(
    sandbox: LocalSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's answer (status 126) would look like the student's mistake; compilers still run."""
    mounted = SimpleNamespace(f_flag=os.ST_NOEXEC)
    monkeypatch.setattr(os, "statvfs", lambda _: mounted)
    with pytest.raises(StorageError, match="mounted noexec; set TMPDIR"):
        sandbox.run(Job(("./program",), (("program", b"#!/bin/sh\n"),)))
    assert sandbox.run(shell("echo done")).outcome.ok


def test_standard_input_is_empty(sandbox: LocalSandbox) -> None:
    """A job that reads does not wait for input."""
    assert sandbox.run(shell("cat; echo done")).outcome.stdout == b"done\n"


def test_files_go_in_and_wanted_ones_come_back(sandbox: LocalSandbox) -> None:
    """Files in folders are written; only what is wanted is read back."""
    job = Job(("/bin/sh", "-c", "cat a/b.txt > c; echo x > d"), (("a/b.txt", b"hello"),), ("c", "gone"))
    result = sandbox.run(job)
    assert result.files == (("c", b"hello"),)
    assert result.file("c") == b"hello"
    assert result.file("gone") is None


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "", "a\0b"])
def test_names_that_leave_the_folder_are_refused(sandbox: LocalSandbox, name: str) -> None:
    """A caller's mistake is not written anywhere."""
    with pytest.raises(ValueError, match="no name for a file"):
        sandbox.run(Job(("true",), ((name, b""),)))


@pytest.mark.parametrize(
    "script",
    [
        "ln -s /etc/hostname out",
        "mkfifo out",
        "mkdir out",
        "mkdir real; echo x > real/out; ln -s /etc here; ln -s here/hostname out",
    ],
    ids=["link", "pipe", "folder", "link-by-folder"],
)
def test_only_regular_files_come_back(sandbox: LocalSandbox, script: str) -> None:
    """Links, pipes and folders are as good as missing."""
    assert sandbox.run(Job(("/bin/sh", "-c", script), (), ("out",))).files == ()


def test_a_file_over_the_limit_does_not_come_back(tmp_path: Path) -> None:
    """A file is read whole or not at all."""
    (tmp_path / "out").write_bytes(b"12345")
    assert fetch(tmp_path, ("out",), 5) == (("out", b"12345"),)
    assert fetch(tmp_path, ("out",), 4) == ()


def test_a_folder_that_is_a_link_gives_nothing(sandbox: LocalSandbox) -> None:
    """A wanted file is not looked for behind a linked folder."""
    job = Job(("ln", "-s", "/etc", "here"), (), ("here/hostname", "here/passwd"))
    assert sandbox.run(job).files == ()


def test_the_folder_is_gone_afterwards(sandbox: LocalSandbox) -> None:
    """Nothing that a job wrote stays, even where it made it hard to remove."""
    outcome = sandbox.run(shell("pwd; mkdir a; echo x > a/b; ln -s / loop")).outcome
    assert not Path(outcome.stdout.decode().strip()).exists()


def test_wall_time_ends_a_sleeper(sandbox: LocalSandbox) -> None:
    """A job that waits is stopped by wall time."""
    outcome = sandbox.run(shell("sleep 100", Limits(wall_seconds=0.2))).outcome
    assert (outcome.status, outcome.returncode) == (Status.TIME, -signal.SIGKILL)
    assert not outcome.starved


def test_a_stop_file_ends_a_job_that_has_had_its_own_seconds(sandbox: LocalSandbox, tmp_path: Path) -> None:
    """Not before them, and long before its wall time."""
    stop = tmp_path / "stop"
    stop.touch()
    job = replace(shell("sleep 100", Limits(wall_seconds=60, own_seconds=0.4)), stop_file=str(stop))
    outcome = sandbox.run(job).outcome
    assert outcome.status is Status.TIME
    assert 0.4 <= outcome.seconds < 10


def test_a_stop_file_that_is_not_there_ends_nothing(sandbox: LocalSandbox, tmp_path: Path) -> None:
    """The process that serves the job may have worked for it all the time."""
    limits = Limits(wall_seconds=60, own_seconds=0.1)
    outcome = sandbox.run(replace(shell("sleep 0.4", limits), stop_file=str(tmp_path / "stop"))).outcome
    assert outcome.ok


def test_a_stop_file_ends_no_job_that_gets_no_processor(sandbox: LocalSandbox, tmp_path: Path) -> None:
    """A right program must not fail because others compute: it has all of its wall time."""
    stop = tmp_path / "stop"
    stop.touch()
    with _busy_processor() as spin:
        limits = Limits(wall_seconds=1.2, own_seconds=0.6)
        outcome = sandbox.run(Job(spin, limits=limits, stop_file=str(stop))).outcome
    assert (outcome.status, outcome.seconds >= 1.2) == (Status.TIME, True)


def test_a_job_that_gets_no_processor_has_longer_until_it_has_had_its_share(sandbox: LocalSandbox) -> None:
    """A compiler, for example, is judged by what it did, and not by what else this machine did."""
    with _busy_processor() as spin:
        outcome = sandbox.run(Job(spin, limits=Limits(wall_seconds=100, own_seconds=0.3))).outcome
    assert (outcome.status, outcome.starved) == (Status.TIME, False)
    assert outcome.seconds > 0.6


def test_a_job_that_waits_for_nothing_of_the_machine_s_has_no_longer(sandbox: LocalSandbox) -> None:
    """It wants no processor."""
    outcome = sandbox.run(shell("sleep 100", Limits(wall_seconds=100, own_seconds=0.3))).outcome
    assert (outcome.status, outcome.starved) == (Status.TIME, False)
    assert outcome.seconds < 50


def test_who_wants_to_compute_and_gets_no_processor_is_starved(sandbox: LocalSandbox) -> None:
    """Its time runs out while others compute, which is not its doing."""
    with _busy_processor() as spin:
        outcome = sandbox.run(Job(spin, limits=Limits(wall_seconds=1.0))).outcome
    assert (outcome.status, outcome.starved) == (Status.TIME, True)


def test_who_computes_until_its_wall_time_is_over_is_not_starved(sandbox: LocalSandbox) -> None:
    """Its share is one of the seconds that it had, where it may take more by itself."""
    limits = Limits(wall_seconds=1.0, own_seconds=60)
    outcome = sandbox.run(shell("while :; do :; done", limits)).outcome
    assert (outcome.status, outcome.starved) == (Status.TIME, False)


@contextmanager
def _busy_processor() -> Iterator[tuple[str, ...]]:
    """A command that computes on a processor on which many do."""
    spin = ("taskset", "-c", str(min(os.sched_getaffinity(0))), "sh", "-c", "while :; do :; done")
    with ExitStack() as stack:
        for _ in range(8):  # in sessions of their own, among which the kernel divides a processor
            stack.callback(stack.enter_context(subprocess.Popen(spin, start_new_session=True)).kill)
        yield spin


def test_who_got_a_processor_is_not_starved() -> None:
    """A process is starved only if it got far less processor time than the given seconds."""
    assert supervisor._is_starved(os.getpgrp(), seconds=1e9)
    assert not supervisor._is_starved(os.getpgrp(), seconds=0.0)


def test_cpu_time_ends_a_spinner_that_ignores_signals(sandbox: LocalSandbox) -> None:
    """A job that computes is stopped by CPU time, caught signals or not."""
    outcome = sandbox.run(shell("trap '' XCPU; while :; do :; done", Limits(cpu_seconds=1))).outcome
    assert outcome.status is Status.TIME


def test_memory_ends_a_hog(sandbox: LocalSandbox) -> None:
    """A program that is refused memory and reports that counts as stopped for it."""
    script = "import sys\ntry: b'x' * (1 << 30)\nexcept MemoryError: sys.exit('out of memory')"
    outcome = sandbox.run(Job((*PYTHON, script), limits=Limits(memory_bytes=200 * MEBIBYTE))).outcome
    assert outcome.status is Status.MEMORY


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("\ncc1plus: out of memory allocating 65536 bytes", Status.MEMORY),
        ("nvcc error   : 'cicc' died due to signal 25 (File size limit exceeded)", Status.OUTPUT),
        ("terminate called after throwing an instance of 'std::bad_alloc'", Status.MEMORY),
        ('a.cu(4): error: expected a ";"\n      fprintf(stderr, "out of memory")', Status.EXIT),
        ('a.cu:4:9: error: "File too large" is no number', Status.EXIT),
        ('   12 |   puts("CPU time limit exceeded")', Status.EXIT),
    ],
)
def test_a_limit_is_named_by_a_programs_own_words_only(
    sandbox: LocalSandbox, message: str, status: Status
) -> None:
    """A line that a compiler quotes from a source is no sign of a limit."""
    job = Job(("/bin/sh", "-c", 'printf "%s\\n" "$MESSAGE" >&2; exit 1'), environment=(("MESSAGE", message),))
    assert sandbox.run(job).outcome.status is status


def test_output_is_cut_and_ends_the_job(sandbox: LocalSandbox) -> None:
    """A job that prints without end is stopped, and no more than the cap is kept."""
    outcome = sandbox.run(shell("yes", Limits(output_bytes=1000))).outcome
    assert outcome.status is Status.OUTPUT
    assert outcome.stdout == b"y\n" * 500


def test_both_streams_may_be_full_at_once(sandbox: LocalSandbox) -> None:
    """Neither stream waits for the other to be read."""
    outcome = sandbox.run(shell("head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero")).outcome
    assert (len(outcome.stdout), len(outcome.stderr)) == (300_000, 300_000)
    assert outcome.ok


def test_file_size_ends_a_writer(sandbox: LocalSandbox) -> None:
    """A file that grows over the limit ends the job."""
    outcome = sandbox.run(shell("exec head -c 9000000 /dev/zero > x", Limits(file_bytes=4096))).outcome
    assert outcome.status is Status.OUTPUT


def test_a_signal_is_distinguished_from_an_exit(sandbox: LocalSandbox) -> None:
    """A crash that no limit explains is a signal."""
    outcome = sandbox.run(shell("kill -SEGV $$")).outcome
    assert (outcome.status, outcome.returncode) == (Status.SIGNAL, -signal.SIGSEGV)


def test_grandchildren_end_with_the_job(sandbox: LocalSandbox) -> None:
    """A process left behind in the group is killed, and its streams are not waited for."""
    outcome = sandbox.run(shell("sleep 100 & echo $!")).outcome
    assert outcome.status is Status.EXIT
    assert _is_gone(int(outcome.stdout))


def _is_gone(process: int) -> bool:
    """Return whether a process has ended, or ends within a moment; a zombie has."""
    for _ in range(200):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


def test_a_missing_program_is_our_error(sandbox: LocalSandbox) -> None:
    """A program that does not exist is named."""
    with pytest.raises(ToolMissing, match="no-such-program"):
        sandbox.run(Job(("no-such-program",)))


def test_the_message_about_a_missing_limiter_explains_how_to_get_it(
    sandbox: LocalSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without `prlimit` nothing runs unlimited."""
    monkeypatch.setattr("grader.toolchain.sandbox.supervisor.LIMITER", "no-such-limiter")
    with pytest.raises(ToolMissing, match="apt-get install util-linux"):
        sandbox.run(Job(("true",)))


def test_an_unusable_temporary_folder_is_our_error(
    sandbox: LocalSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full or read-only temporary folder ends as StorageError, which suggests what to do."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("grader.toolchain.sandbox.supervisor.place", full)
    with pytest.raises(StorageError, match="No space left on device; free some space"):
        sandbox.run(Job(("true",)))


def test_too_few_open_files_are_our_error(sandbox: LocalSandbox) -> None:
    """Of which the disk, that is not full, is not blamed."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (sum(1 for _ in Path("/proc/self/fd").iterdir()) + 1, most[1]))
    try:
        with pytest.raises(StorageError, match="too few files; raise the limit"):
            sandbox.run(Job(("true",)))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, most)


def test_a_quota_that_is_used_up_is_our_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts before the disk is full."""

    def used_up(*_: object) -> None:
        raise OSError(122, "Disk quota exceeded")

    check_room(LocalSandbox())
    monkeypatch.setattr("os.posix_fallocate", used_up)
    with pytest.raises(StorageError, match="cannot be used: Disk quota exceeded; free some space"):
        check_room(LocalSandbox())


def test_limits_of_the_grader_itself_are_respected(
    sandbox: LocalSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The grader's own hard limit is asked for where it is lower."""
    monkeypatch.setattr("grader.toolchain.sandbox.supervisor.resource.getrlimit", lambda _: (5, 5))
    assert not sandbox.run(shell("ulimit -t", Limits(memory_bytes=1))).outcome.ok


def test_jobs_are_limited(sandbox: LocalSandbox) -> None:
    """The limits hold in the job from its first instruction on."""
    limits = Limits(cpu_seconds=7, memory_bytes=512 * MEBIBYTE, open_files=99)
    outcome = sandbox.run(shell("ulimit -t; ulimit -v; ulimit -c; ulimit -n", limits)).outcome
    assert outcome.stdout.split() == [b"7", str(512 * 1024).encode(), b"0", b"99"]


def test_a_job_reads_what_it_is_given(sandbox: LocalSandbox) -> None:
    """Standard input holds just the job's bytes, and the job cannot change them."""
    job = Job(("/bin/sh", "-c", "cat; echo more >&0 || echo sealed"), stdin=b"1 2 3\n")
    assert sandbox.run(job).outcome.stdout == b"1 2 3\nsealed\n"


def test_a_job_has_no_network_where_it_can_be_taken_away(sandbox: LocalSandbox) -> None:
    """It has no interface but its own loopback, unless the kernel refuses such namespaces."""
    outcome = sandbox.run(Job(("/bin/cat", "/proc/net/dev"))).outcome
    interfaces = {line.split(b":")[0].strip() for line in outcome.stdout.splitlines()[2:]}
    allowed = bool(_without_network())
    assert (interfaces == {b"lo"}) or not allowed


def test_a_stage_is_the_sandbox_itself(sandbox: LocalSandbox) -> None:
    """There is nothing to prepare for several jobs."""
    with sandbox.stage(Stage()) as inside:
        assert inside is sandbox


def test_a_job_does_not_outlive_a_grader_that_is_killed(tmp_path: Path) -> None:
    """After SIGKILL no grader is left to end it: a kernel that hangs would keep a GPU for ever."""
    began = tmp_path / "began"
    job = f"Job(('/bin/sh', '-c', 'echo $$ > {began}.part; mv {began}.part {began}; exec sleep 60'))"
    script = f"from grader.toolchain.sandbox import Job, LocalSandbox; LocalSandbox().run({job})"
    with subprocess.Popen((sys.executable, "-c", script)) as grader:
        deadline = time.monotonic() + 30
        while not began.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert began.exists(), "the job never began"
        process = int(began.read_text())
        assert Path(f"/proc/{process}").exists()
        grader.kill()
    if not _ending_with_us():
        os.kill(process, signal.SIGKILL)
        pytest.skip("the setpriv of this machine cannot tie a process to its parent")
    assert _is_gone(process)
