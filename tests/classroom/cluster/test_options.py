"""Messages about a cluster that cannot be had, before anything is graded."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from importlib import import_module
from typing import TYPE_CHECKING

import dask
import pytest

from grader.classroom.batch import OutFolder
from grader.classroom.cluster import address, schedulers
from grader.cli.main import main
from tests.classroom.cluster.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def grade(tmp_path: Path, where: str, *options: str) -> int:
    """The exit code of `grade` on a cluster."""
    submission = str(ROOT / "reference/vector-add/solution.cu")
    command = ["grade", "vector-add", submission, "-o", str(tmp_path / "out"), *options]
    return main([*command, "--cluster", where] if where else command)


@pytest.mark.parametrize(
    ("where", "option", "message"),
    [
        ("", "--nodes", "--nodes 2 is for --cluster slurm, and this is no --cluster; leave it out"),
        ("local", "--nodes", "--nodes 2 is for --cluster slurm, and this is --cluster local; leave it out"),
        ("tcp://127.0.0.1:9", "--nodes", "--nodes 2 is for --cluster slurm"),
        ("tcp://127.0.0.1:9", "--jobs", "is said where it is started, with `--nthreads 2`; leave --jobs out"),
    ],
)
def test_an_option_that_this_cluster_does_not_read_is_refused(
    where: str, option: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one sentence, before anything is asked for or written."""
    assert grade(tmp_path, where, option, "2") == 2
    output = capsys.readouterr().err
    assert message in output
    assert output.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("where", "package"), [("local", "distributed"), ("slurm", "dask-jobqueue")])
def test_a_package_that_is_missing_is_named(
    where: str,
    package: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With what to install; nothing is written."""
    missing = package.replace("-", "_")
    monkeypatch.setattr(schedulers, "find_spec", lambda name: None if name == missing else object())
    assert grade(tmp_path, where) == 3
    text = capsys.readouterr().err
    assert f"--cluster {where}: the package `{package}` is not installed; get what it takes with `pip" in text
    assert not (tmp_path / "out").exists()


def test_the_message_about_a_package_needs_none_of_these_packages() -> None:
    """Else it would end in an import that fails."""
    script = "import sys; import grader.classroom.cluster.schedulers; sys.exit('distributed' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0


def test_a_machine_without_slurm_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is a question of usage."""
    monkeypatch.setattr("grader.classroom.cluster.schedulers.shutil.which", lambda _: None)
    assert grade(tmp_path, "slurm") == 2
    assert "--cluster slurm: there is no Slurm here" in capsys.readouterr().err


@pytest.mark.parametrize(
    "where",
    ["cloud", "tcp://", "tcp://host", "tcp://host:port", "tls://:8786", "tcp://host:0", "tcp://host:65536"],
)
def test_what_is_no_cluster_is_refused(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names what is expected."""
    with pytest.raises(SystemExit) as ended:
        grade(tmp_path, where)
    assert ended.value.code == 2
    assert "expected `slurm`, `local` or an address such as tcp://HOST:8786" in capsys.readouterr().err


def test_a_scheduler_with_tls_needs_certificates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message names the keys of Dask's own configuration for them: it is a question of usage."""
    assert grade(tmp_path, "tls://127.0.0.1:9") == 2
    output = capsys.readouterr().err
    assert "--cluster tls://127.0.0.1:9: " in output
    assert "DASK_DISTRIBUTED__COMM__TLS__" in output
    assert output.count("\n") == 1


def test_certificates_that_are_not_there_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is they that cannot be read, and not the scheduler that does not answer."""
    import_module("distributed")  # which gives what is not set its defaults, and they stay
    with dask.config.set(
        {
            "distributed.comm.tls.ca-file": str(tmp_path / "ca.pem"),
            "distributed.comm.tls.client.cert": str(tmp_path / "cert.pem"),
            "distributed.comm.tls.client.key": str(tmp_path / "key.pem"),
        }
    ):
        assert grade(tmp_path, "tls://127.0.0.1:9") == 2
    output = capsys.readouterr().err
    assert "the certificates for TLS cannot be read (No such file or directory)" in output
    assert output.count("\n") == 1


def _unknown(*_arguments: object) -> None:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.parametrize(
    ("where", "why"),
    [("tcp://127.0.0.1:9", "Connection refused"), ("tcp://nobody:8786", "Name or service not known")],
)
def test_an_address_where_nothing_answers_is_reported_with_the_cause(
    where: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After as long as a scheduler may take to start, and not after all of Dask's attempts."""
    monkeypatch.setattr(address, "_STARTING", 0.3)
    monkeypatch.setattr(address, "ANSWERING", 3600.0)
    if "nobody" in where:
        monkeypatch.setattr(socket, "getaddrinfo", _unknown)
    assert grade(tmp_path, where) == 2
    output = capsys.readouterr().err
    assert (
        f"--cluster {where}: nothing answers there ({why}); start a scheduler with `dask scheduler`" in output
    )
    assert output.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_scheduler_that_starts_just_now_is_waited_for() -> None:
    """As in a script that starts one in the background, and grades in its next line."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(address._reach, f"tcp://127.0.0.1:{port}")
        time.sleep(0.3)
        assert not waiting.done()
        with socket.create_server(("127.0.0.1", port)):
            waiting.result(timeout=address._STARTING)


@pytest.mark.parametrize(
    ("greeting", "message"),
    [
        (None, "what listens there does not greet as a scheduler does, in 1 s"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "what answers there is no scheduler of Dask over tcp"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "what answers there is no scheduler of Dask over tcp"),
        (b"", "what answers there is no scheduler of Dask over tcp"),
    ],
)
def test_another_server_is_no_scheduler(
    greeting: bytes | None,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One that sends nothing, something else, or hangs up is reported soon, as a question of usage."""
    monkeypatch.setattr(address, "ANSWERING", 1.0 if greeting is None else 4.0)
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as threads:
        threads.submit(_greet_as, server, greeting)
        where = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        try:
            assert grade(tmp_path, where) == 2
        finally:
            server.shutdown(socket.SHUT_RDWR)  # who waits for a connection is woken, and all are closed
    output = capsys.readouterr().err
    assert f"--cluster {where}: {message}; name the address that `dask scheduler` prints" in output
    assert output.count("\n") == 1


def _greet_as(server: socket.socket, greeting: bytes | None) -> None:
    """Send the same to everybody who connects, and hang up unless there is nothing to send."""
    with ExitStack() as silent, suppress(OSError):  # the server is shut down at the end
        while True:
            connection, _ = server.accept()
            if greeting is None:
                silent.enter_context(connection)
                continue
            with connection, suppress(OSError):  # who has left already hears nothing
                connection.sendall(greeting)


def test_a_folder_that_is_written_to_is_refused_before_a_cluster_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else jobs would wait in a queue for nothing."""
    with OutFolder(tmp_path / "out").locked():
        assert grade(tmp_path, "tcp://127.0.0.1:9") == 2
    assert "another grader is writing here" in capsys.readouterr().err


def test_what_a_killed_batch_left_of_its_cluster_is_removed(tmp_path: Path) -> None:
    """Its key opens nothing any more, and what its jobs printed is about no batch that runs."""
    left = tmp_path / ".cluster-abcdefgh"
    left.mkdir()
    (left / "key.pem").touch()
    with schedulers.shared_folder(tmp_path) as shared:
        assert list(tmp_path.iterdir()) == [shared]
    assert not list(tmp_path.iterdir())


def test_questions_are_graded_without_a_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They take no time: the command asks to leave out the option instead of starting a cluster."""
    sheet = tmp_path / "ada.yaml"
    sheet.write_text("student: ada\nanswers:\n  blocks-x: 75\n")
    options = ["-o", str(tmp_path / "out"), "--cluster", "local"]
    assert main(["grade", "memory-analysis", str(sheet), *options]) == 2
    assert "asks questions, which are graded here: leave out --cluster" in capsys.readouterr().err


def test_a_job_of_slurm_imports_nothing_from_the_folder_it_was_submitted_from(tmp_path: Path) -> None:
    """It works there, and Python would look there first for all that a worker loads."""
    slurm = pytest.importorskip("dask_jobqueue.slurm", reason="the package is an extra")
    options = schedulers._slurm_options(2, tmp_path)
    wanted = {name: options[name] for name in ("cores", "memory", "processes", "nanny", "python")}
    script = slurm.SLURMJob("tls://127.0.0.1:1", "one", **wanted).job_script()
    assert f"\n{sys.executable} -P -m distributed.cli.dask_worker " in script
