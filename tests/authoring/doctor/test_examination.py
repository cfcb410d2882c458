"""Reports of `grader doctor` on a class: the sandbox that `grade` would take, GPUs, space, the folder OUT."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from grader.authoring.doctor import Mark, ReportLine, examination, gpus
from grader.base.errors import ToolMissing
from grader.toolchain import sandbox_choice
from grader.toolchain.gpu import devices
from grader.toolchain.nvcc import Tools, find_toolchain, toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.toolchain.gpu.pretend import GPU

if TYPE_CHECKING:
    from pathlib import Path


class ShutIn(LocalSandbox):
    """A sandbox that claims to shut strangers' files in."""

    name, shuts_in = "pretended", True


@pytest.fixture(autouse=True)
def _no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the machine that the tests run on."""
    monkeypatch.setattr(devices, "missing_libraries", lambda: ("nvidia-ml-py",))


@pytest.fixture
def _no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what is not about the sandbox: no kernel is compiled in it."""
    monkeypatch.setattr("grader.authoring.doctor.examination.find_planted_race", lambda *_: None)


def examined(
    out: Path | None = None, *, sandbox: str = "local", trusted: bool = False
) -> dict[str, list[ReportLine]]:
    """The lines by what they are about."""
    lines = list(examination.examine_class(examination.ClassWishes(sandbox, trusted, None, None, out)))
    return {line.subject: [one for one in lines if one.subject == line.subject] for line in lines}


@pytest.mark.usefixtures("_no_compiler")
def test_where_nothing_shuts_strangers_in_a_class_cannot_be_graded() -> None:
    """As `grade` refuses it, with the same ways out."""
    (line,) = examined()["sandbox"]
    assert (line.mark, line.stops, line.fix) == (Mark.PROBLEM, True, sandbox_choice.HOW_TO_TRUST)


@pytest.mark.usefixtures("_no_compiler")
def test_with_all_files_trusted_the_report_does_not_claim_that_they_are_shut_in() -> None:
    """It is no problem then, and not called ok."""
    (line,) = examined(trusted=True)["sandbox"]
    assert (line.mark, line.stops) == (Mark.NONE, False)
    assert "trusted" in line.state


def test_a_sandbox_is_ok_when_a_kernel_was_compiled_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox that does not compile a sound kernel is a problem, whatever it claims of itself."""
    tools = Tools(find_toolchain(), ShutIn())
    monkeypatch.setattr(sandbox_choice, "tools", lambda *_, **__: tools)
    (line,) = examined()["sandbox"]
    assert (line.mark, line.state) == (Mark.OK, "pretended: a kernel was compiled in it")
    monkeypatch.setattr(ShutIn, "run", _broken)
    (line,) = examined()["sandbox"]
    assert (line.mark, line.stops) == (Mark.PROBLEM, True)


def _broken(_self: ShutIn, _job: object) -> None:
    raise ToolMissing("no program runs in it")


def test_a_sandbox_that_was_asked_for_and_is_not_there_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message of the sandbox itself names what is missing."""
    monkeypatch.setattr(
        "grader.toolchain.sandbox.bubblewrap.trouble", lambda: "bubblewrap is not installed; get it"
    )
    (line,) = examined(sandbox="bubblewrap")["sandbox"]
    assert (line.mark, line.fix) == (
        Mark.PROBLEM,
        "--sandbox bubblewrap: bubblewrap is not installed; get it",
    )


def test_each_gpu_is_tried_in_the_sandbox_of_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU that works for one's own file may fail in a container that lacks a library."""
    monkeypatch.setattr(devices, "missing_libraries", lambda: ())
    monkeypatch.setattr(devices, "find_gpus", lambda: (GPU,))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    tools = Tools(find_toolchain(), ShutIn())
    monkeypatch.setattr(sandbox_choice, "tools", lambda *_, **__: tools)
    tried: list[tuple[object, object]] = []

    def trials(*given: object) -> list[ReportLine]:
        tried.append((given[0], given[1]))
        return [ReportLine(Mark.PROBLEM, "gpu trial", "a tool is blind", needed=False)]

    monkeypatch.setattr(gpus, "trials", trials)
    lines = examined()
    assert lines["gpu trial"][0].state == "a tool is blind"
    assert tried == [(tools, (GPU,))]
    (refused,) = lines["gpu"]
    assert (refused.mark, refused.stops) == (Mark.PROBLEM, True)
    assert "--backend emulator" in refused.fix


@pytest.mark.usefixtures("_no_compiler")
def test_with_a_gpu_the_missing_image_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bubblewrap has no GPU: of all ways to shut a class in, containers with one are left."""
    monkeypatch.setattr(devices, "missing_libraries", lambda: ())
    monkeypatch.setattr(devices, "find_gpus", lambda: (GPU,))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(gpus, "trials", lambda *_: [ReportLine(Mark.OK, "gpu trial", "ran a kernel")])
    lines = examined()
    (line,) = lines["sandbox"]
    assert (line.mark, line.stops) == (Mark.PROBLEM, True)
    assert "--build-image gpu" in line.fix
    assert "gpu" not in lines


@pytest.mark.usefixtures("_no_compiler")
@pytest.mark.parametrize("as_students_have_it", [True, False])
def test_for_a_student_s_installation_it_reports_what_a_class_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, as_students_have_it: bool
) -> None:
    """The assignments that come with it have neither hidden cases nor solutions there; a clone has them."""
    data = tmp_path if as_students_have_it else tmp_path / "none"
    monkeypatch.setattr(examination, "package_data", lambda: data)
    lines = examined().get("staff", [])
    assert [(line.mark, line.stops, "clone" in line.fix) for line in lines] == (
        [(Mark.NONE, False, True)] if as_students_have_it else []
    )


def _cache_line(builds: Path) -> ReportLine:
    (line,) = (line for line in examination.examine(None, builds) if line.subject == "cache")
    return line


@pytest.mark.usefixtures("_no_compiler")
def test_without_a_folder_for_builds_one_s_own_file_can_be_checked(tmp_path: Path) -> None:
    """The message names the error and that each check only takes longer, as `check` itself does."""
    assert _cache_line(tmp_path / "builds").mark is Mark.OK
    (tmp_path / "file").touch()
    line = _cache_line(tmp_path / "file/builds")
    assert (line.mark, line.stops) == (Mark.PROBLEM, False)
    assert line.state.endswith("Not a directory; each check compiles anew")
    assert "XDG_CACHE_HOME" in line.fix


def test_where_no_temporary_file_can_be_written_the_compiler_is_not_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else can be tried then."""
    toolchain._examine.cache_clear()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    *_, last = examination.examine(None, None)
    assert (last.mark, last.subject, last.stops) == (Mark.PROBLEM, "space", True)
    assert "no temporary file can be written" in last.fix


@pytest.mark.usefixtures("_no_compiler")
def test_a_folder_that_was_not_named_was_not_looked_at() -> None:
    """And is not called ok."""
    (line,) = examined()["out"]
    assert (line.mark, line.fix) == (Mark.UNKNOWN, "name the folder with -o OUT")


@pytest.mark.usefixtures("_no_compiler")
@pytest.mark.parametrize("name", ["out", "a/b/out", "."])
def test_a_folder_is_tried_by_writing_and_nothing_stays(tmp_path: Path, name: str) -> None:
    """Of one that will be made, the folder above it is."""
    lines = examined(tmp_path / name)
    (line,) = lines["out"]
    assert line.mark is Mark.OK
    assert str(tmp_path) in line.state
    assert not list(tmp_path.iterdir())
    assert [one.mark for one in lines["space"]] == [Mark.OK, Mark.OK]


@pytest.mark.usefixtures("_no_compiler")
def test_a_file_in_its_place_is_a_problem(tmp_path: Path) -> None:
    """So is what lies below one."""
    (tmp_path / "file").touch()
    for out in (tmp_path / "file", tmp_path / "file" / "out"):
        (line,) = examined(out)["out"]
        assert (line.mark, line.stops) == (Mark.PROBLEM, True)
        assert "Not a directory" in line.state


@pytest.mark.usefixtures("_no_compiler")
def test_a_folder_that_cannot_be_locked_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some network file systems know no locks, and two batches would write into one folder."""

    def refuse(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    (line,) = examined(tmp_path)["out"]
    assert (line.mark, line.stops) == (Mark.PROBLEM, True)
    assert line.state.endswith("No locks available")


@pytest.mark.usefixtures("_no_compiler")
def test_little_space_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The free space of both folders is reported."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2**29))
    lines = examined(tmp_path)["space"]
    assert [(line.mark, line.state[:12]) for line in lines] == [(Mark.PROBLEM, "0.5 GiB free")] * 2
