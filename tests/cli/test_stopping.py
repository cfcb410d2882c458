"""A command that is asked to stop, by Ctrl-C or a signal: its message and its exit code."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import GraderError
from grader.cli import main
from tests.mistakes import mistake_file

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
MISTAKES = ROOT / "reference/matmul/mistakes"


@pytest.mark.parametrize("ask", [os.kill, os.killpg])
def test_asked_to_stop_it_reports_how_to_go_on(ask: Callable[[int, int], None], tmp_path: Path) -> None:
    """SIGTERM is answered like Ctrl-C, also where all of its processes get it: exit code 130 and one line."""
    (tmp_path / "class").mkdir()
    for number in range(4):  # enough to do that it cannot be over before it is asked
        shutil.copy(mistake_file(MISTAKES / "infinite_loop.cu"), tmp_path / f"class/slow-{number}.cu")
    command = [
        sys.executable,
        "-m",
        "grader",
        "grade",
        "tiled-matmul",
        str(tmp_path / "class"),
        "-o",
        str(tmp_path / "out"),
    ]
    batch = subprocess.Popen(
        [*command, "--no-cache"], cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not (tmp_path / "out/journal.jsonl").exists():
        time.sleep(0.05)
    ask(batch.pid, signal.SIGTERM)
    _, output = batch.communicate(timeout=60)
    assert batch.returncode == 130, output
    assert output.splitlines()[-1].startswith("grader: stopped; run the same command again")
    assert "Traceback" not in output


def test_asked_to_stop_while_it_reports_a_failure_it_reports_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 130 wherever the signal meets it, and there is no traceback."""

    class StoppedError(GraderError):
        def __str__(self) -> str:
            raise KeyboardInterrupt

    def refuse(_arguments: object) -> None:
        raise StoppedError

    monkeypatch.setattr(import_module("grader.cli.main"), "parse", refuse)
    assert main(["check"]) == 130
    assert capsys.readouterr().err.startswith("grader: stopped; run the same command again")


def test_asked_to_stop_while_it_loads_modules_it_ends_with_the_same_exit_code(tmp_path: Path) -> None:
    """Python itself would end by SIGINT: dataclasses make their methods by `exec`, which it remembers."""
    script = (
        "import sys\n"
        "from importlib import import_module\n"
        "entry = import_module('grader.cli.main')\n"
        "entry.parse = lambda _: exec('raise KeyboardInterrupt')\n"
        "sys.exit(entry.main([]))\n"
    )
    (tmp_path / "stopped.py").write_text(script, encoding="utf-8")
    command = [sys.executable, str(tmp_path / "stopped.py")]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr.count("\n")) == (130, 1)
    assert ended.stderr.startswith("grader: stopped; run the same command again")


def test_asked_to_stop_again_while_it_ends_it_ends_without_a_traceback() -> None:
    """By that signal: what is left to do when Python ends (here: a thread to wait for) is not met by ours."""
    script = (
        "import os, signal, sys, threading, time\n"
        "from importlib import import_module\n"
        "entry = import_module('grader.cli.main')\n"
        "entry.parse = lambda _: os.kill(os.getpid(), signal.SIGINT)\n"
        "def ask_again():\n"
        "    time.sleep(0.5)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(5)\n"
        "threading.Thread(target=ask_again).start()\n"
        "sys.exit(entry.main([]))\n"
    )
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGINT
    assert ended.stderr == "grader: stopped; run the same command again to go on where it stopped\n"


DROPPED = """
import gc, os, signal
from grader.cli import interruption

class Failing:
    def __del__(self):
        raise ValueError("told")

interruption.listen()
gc.callbacks.append(lambda *_: os.kill(os.getpid(), signal.SIGINT))
gc.collect()
gc.callbacks.clear()
del Failing().__dict__
try:
    interruption.raise_if_stopped()
except KeyboardInterrupt:
    print("asked")
"""


def test_asked_to_stop_where_exceptions_are_dropped_it_prints_no_traceback_and_remembers() -> None:
    """As in a callback of the garbage collector's, which Dask has; other exceptions are reported."""
    done = subprocess.run(
        [sys.executable, "-c", DROPPED], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "asked\n"
    assert "KeyboardInterrupt" not in done.stderr
    assert "ValueError: told" in done.stderr
