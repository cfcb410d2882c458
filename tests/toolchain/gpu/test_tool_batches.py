"""Submissions that the emulator has cleared share runs of a tool, of which only silence counts."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from grader.base.errors import OurError
from grader.model import Argument, Launch
from grader.toolchain.gpu.request import DeviceCase, Image, JobLaunches, Where, launches_of, shared_job
from grader.toolchain.gpu.tool_batches import merged, packed, queue_folder, ran_silently, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import pytest

WHERE = Where("python3", b"helpers", "GPU-0", "/lock")
LAUNCH = Launch((1, 1, 1), (32, 1, 1))


def launches(content: float, cubin: bytes = b"cubin") -> JobLaunches:
    """One launch of one kernel, with an array that holds a number, one that is written, and a scalar."""
    arguments = (
        Argument("A", "in", np.full(3, content, np.float32)),
        Argument("C", "out", np.zeros(3, np.float32)),
        Argument("N", "value", np.int32(3)),
    )
    return launches_of((("student", Image(cubin, "k")),), (DeviceCase(7, LAUNCH, arguments),))


MOST = 8
"""Submissions that share a run unless a test sets another number."""


class Tool:
    """A run of a tool that takes until it may end; ``groups`` are the arrays' files of who shared each."""

    def __init__(self, *, silent: Callable[[Sequence[JobLaunches]], bool] = lambda _: True) -> None:
        self.may_end, self.began = threading.Event(), threading.Event()
        self.groups: list[list[bytes]] = []
        self._silent = silent

    def run(self, members: Sequence[JobLaunches]) -> bool:
        """As `ran_silently` calls it."""
        self.groups.append([dict(member.files)["in/7-A.npy"] for member in members])
        self.began.set()
        assert self.may_end.wait(30)
        return self._silent(members)


def together(folder: Path, tool: Tool, count: int, most: int = MOST) -> list[bool]:
    """The answers to a number of submissions, the others coming while the first one's run goes on."""
    with ThreadPoolExecutor(count) as pool:
        first = pool.submit(ran_silently, folder, launches(0), tool.run, most)
        assert tool.began.wait(30)
        others = [
            pool.submit(ran_silently, folder, launches(number), tool.run, most) for number in range(1, count)
        ]
        while len(list(folder.glob("*.waiting"))) < count:
            assert not any(other.done() for other in others)
        tool.may_end.set()
        return [future.result(30) for future in (first, *others)]


def test_who_waits_while_a_run_goes_on_shares_the_next(tmp_path: Path) -> None:
    """The first one does not wait for company; all that came later are one run, and hear of its silence."""
    tool = Tool()
    assert together(tmp_path, tool, 4) == [True] * 4
    assert [len(group) for group in tool.groups] == [1, 3]
    assert len({content for group in tool.groups for content in group}) == 4


def test_a_queue_is_gone_with_the_last_one_in_it(tmp_path: Path) -> None:
    """Nothing is left in the temporary folder."""
    tool = Tool()
    assert together(tmp_path / "queue", tool, 3) == [True] * 3
    assert not list(tmp_path.iterdir())


def test_a_queue_that_is_removed_all_the_time_is_shared_nevertheless(tmp_path: Path) -> None:
    """A job that comes while the last one removes the queue makes it anew; only one has the turn."""
    running = threading.Lock()

    def run(members: Sequence[JobLaunches]) -> bool:
        assert running.acquire(blocking=False)
        time.sleep(0.001)
        running.release()
        return bool(members)

    with ThreadPoolExecutor(8) as pool:
        silent = pool.map(lambda n: ran_silently(tmp_path / "q", launches(n), run, MOST), range(200))
        assert all(silent)
    assert not list(tmp_path.iterdir())


def test_no_run_is_shared_by_more_than_the_most(tmp_path: Path) -> None:
    """A submission that is left over waits for the next run."""
    tool = Tool()
    assert together(tmp_path, tool, 4, most=2) == [True] * 4
    assert sorted(len(group) for group in tool.groups) == [1, 1, 2]


def test_where_anything_comes_of_a_shared_run_no_submission_is_cleared_by_it(tmp_path: Path) -> None:
    """It is unknown to which submission the launch belonged."""
    tool = Tool(silent=lambda members: len(members) == 1)
    assert together(tmp_path, tool, 3) == [True, False, False]


def test_an_error_of_ours_in_a_shared_run_clears_no_submission(tmp_path: Path) -> None:
    """Neither the submission that did the run nor one that waited for it is cleared."""

    def fails(members: Sequence[JobLaunches]) -> bool:
        if len(members) > 1:
            raise OurError("the sandbox is gone")
        return True

    assert together(tmp_path, Tool(silent=fails), 3) == [True, False, False]


def test_what_a_killed_process_left_is_removed_and_not_run(tmp_path: Path) -> None:
    """Its lock has ended with it; the turn that it had is free again."""
    code = (
        "import os, signal, sys; from pathlib import Path; from grader.toolchain.gpu.tool_batches import *; "
        "from grader.toolchain.gpu.request import JobLaunches; "
        "own = JobLaunches({}, [], ()); "
        "ran_silently(Path(sys.argv[1]), own, lambda _: os.kill(os.getpid(), signal.SIGKILL), 8)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == -9
    assert len(list(tmp_path.glob("*.waiting"))) == 1
    tool = Tool()
    tool.may_end.set()
    assert ran_silently(tmp_path, launches(1), tool.run, MOST)
    assert [len(group) for group in tool.groups] == [1]
    assert not list(tmp_path.glob("*.waiting"))


def test_a_file_in_the_queue_that_is_none_of_ours_is_passed_over(tmp_path: Path) -> None:
    """The file disturbs no submission, even while another process holds its lock."""
    code = (
        "import fcntl, sys, time; file = open(sys.argv[1], 'wb'); fcntl.flock(file, fcntl.LOCK_EX); "
        "file.write(b'PK?'); file.flush(); print(flush=True); time.sleep(60)"
    )
    strange = str(tmp_path / "strange.waiting")
    tool = Tool()
    tool.may_end.set()
    with subprocess.Popen([sys.executable, "-c", code, strange], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert ran_silently(tmp_path, launches(1), tool.run, MOST)
        process.kill()
    assert [len(group) for group in tool.groups] == [1]


def test_without_a_folder_nothing_is_shared() -> None:
    """Each is run by itself."""
    tool = Tool()
    tool.may_end.set()
    assert ran_silently(None, launches(1), tool.run, MOST)
    assert len(tool.groups) == 1


def test_where_the_queue_is_gone_nothing_is_shared(tmp_path: Path) -> None:
    """The temporary folder has been cleaned up, so each submission is run by itself."""
    tool = Tool()
    tool.may_end.set()
    assert ran_silently(tmp_path / "gone", launches(1), tool.run, MOST)
    assert len(tool.groups) == 1


def test_a_queue_is_this_users_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One folder for each GPU, sandbox, tool and company; none where others can open what it lies in."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = queue_folder(WHERE, "local", ("memcheck",), "clean")
    assert folder is not None
    assert folder.parent.stat().st_mode & 0o777 == 0o700
    assert queue_folder(WHERE, "local", ("memcheck",), "clean") == folder
    assert queue_folder(WHERE, "local", ("racecheck",), "clean") != folder
    assert queue_folder(WHERE, "docker", ("memcheck",), "clean") != folder
    assert queue_folder(WHERE, "local", ("memcheck",), "astray") != folder
    folder.parent.chmod(0o777)
    assert queue_folder(WHERE, "local", ("memcheck",), "clean") is None


def test_a_link_in_the_place_of_the_queue_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others may write into the temporary folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = queue_folder(WHERE, "local", (), "clean")
    assert folder is not None
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.parent.rmdir()
    folder.parent.symlink_to(tmp_path / "elsewhere")
    assert queue_folder(WHERE, "local", (), "clean") is None


def test_launches_are_the_same_after_they_were_packed() -> None:
    """Kernels, cases and files."""
    assert unpacked(packed(launches(2))) == launches(2)


def test_merged_launches_have_names_of_their_own() -> None:
    """Each finds its own kernel and its own arrays, and nothing of the others'."""
    both = merged([launches(1, b"one"), launches(2, b"two")])
    files = dict(both.files)
    assert [case["name"] for case in both.cases] == ["0-7", "1-7"]
    for number, cubin in enumerate((b"one", b"two")):
        case = both.cases[number]
        assert files[both.kernels[case["kernel"]]["image"]] == cubin
        (array,) = [a["file"] for a in case["arguments"] if a["name"] == "A"]
        np.testing.assert_array_equal(np.frombuffer(files[array], np.float32)[-3:], number + 1)
        assert case["arguments"][2] == {"name": "N", "direction": "value", "dtype": "int32", "value": 3}
    assert len(files) == len(launches(1).files) * 2


def test_a_shared_job_asks_for_no_output_of_any_kernel() -> None:
    """It asks only for the files of the tool and of the harness."""
    job = shared_job(WHERE, merged([launches(1), launches(2)]), ("tool",), ("tool.xml", "tool.log"))
    assert job.wanted == ("result.json", "tool.xml", "tool.log")
    request = json.loads(dict(job.files)["request.json"])
    assert (request["mode"], request["timing"], request["give_way"]) == ("concurrent", None, "/lock")
    assert (job.argv[0], job.gpu, job.locks) == ("tool", "GPU-0", ("/lock",))
