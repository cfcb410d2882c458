"""Which sandbox is used, and when strangers' files are refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader import sandbox_choice
from grader.cli import main
from grader.errors import OurError, ToolMissing
from grader.sandbox import Job, LocalSandbox, bubblewrap

ROOT = Path(__file__).resolve().parents[1]
SOLUTION = ROOT / "reference/matmul/solution.cu"


@pytest.fixture
def two(tmp_path: Path) -> list[str]:
    """A command that grades two submissions."""
    folder = tmp_path / "class"
    folder.mkdir()
    shutil.copy(SOLUTION, folder / "ada.cu")
    shutil.copy(SOLUTION, folder / "bob.cu")
    return ["grade", "tiled-matmul", str(folder), "-o", str(tmp_path / "out")]


def test_a_class_is_refused_where_nothing_shuts_it_in(
    two: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2; the message names both sandbox_choice and the option that does without."""
    monkeypatch.delenv("GRADER_TRUST")
    assert main([*two, "--sandbox", "local"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("grader: these 2 submissions would be compiled and run with nothing around them")
    for way in ("apt-get install bubblewrap", "grader doctor --build-image", "--i-trust-these-files"):
        assert way in told
    assert not Path(two[-1]).exists()


def test_a_single_file_and_trusted_files_are_graded(two: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """One's own file needs no sandbox, and neither do files that somebody answers for."""
    monkeypatch.delenv("GRADER_TRUST")
    assert main(["grade", "tiled-matmul", str(SOLUTION), *two[-2:], "--sandbox", "local"]) == 0
    assert main([*two, "--sandbox", "local", "--i-trust-these-files"]) == 0


def test_without_an_engine_docker_says_what_to_do(
    two: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 3, and no word of a student."""
    pytest.importorskip("docker", reason="the engine's library is an extra")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    assert main([*two, "--sandbox", "docker"]) == 3
    assert "the container engine does not answer" in capsys.readouterr().err


def test_without_bubblewrap_it_says_how_to_get_it(
    two: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 3."""
    monkeypatch.setattr(bubblewrap, "trouble", lambda: "bubblewrap is not installed; get it")
    assert main([*two, "--sandbox", "bubblewrap"]) == 3
    assert "--sandbox bubblewrap: bubblewrap is not installed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("trouble", "gpu", "best"),
    [("", False, "bubblewrap"), ("", True, "local"), ("none here", False, "local")],
)
def test_strangers_get_the_best_sandbox_there_is(
    trouble: str, *, gpu: bool, best: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without containers a bubblewrap, unless a GPU is needed, else none, which `grade` then refuses."""

    def missing(*_: object, **__: object) -> None:
        raise ToolMissing("no engine")

    monkeypatch.setattr(sandbox_choice, "container", missing)
    monkeypatch.setattr(bubblewrap, "trouble", lambda: trouble)
    assert sandbox_choice.tools("auto", None, "80", None, strangers=True, gpu=gpu).sandbox.name == best


@pytest.mark.docker
def test_strangers_get_containers_where_there_are_some() -> None:
    """An engine with an image is better than anything else."""
    assert sandbox_choice.tools("auto", None, "80", None, strangers=True, gpu=False).sandbox.name == "docker"


@pytest.mark.docker
def test_a_thin_image_lives_on_this_machines_programs(
    two: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no image can be built, containers see this machine's compiler, and full marks are full marks."""
    monkeypatch.setenv("GRADER_IMAGE", "thin")
    assert main([*two, "--sandbox", "docker", "--no-cache", "--fail-under", "100"]) == 0


def test_ones_own_file_needs_no_sandbox() -> None:
    """`check` starts at once, whatever is installed."""
    tools = sandbox_choice.tools("auto", None, "80", None, strangers=False, gpu=False)
    assert (tools.sandbox.name, tools.sandbox.shuts_in) == ("local", False)


@pytest.mark.docker
@pytest.mark.parametrize("sandbox", ["docker", "bubblewrap"])
def test_a_class_is_graded_in_a_sandbox(
    sandbox: str, two: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Strangers' files are taken, and full marks are full marks."""
    monkeypatch.delenv("GRADER_TRUST")
    assert main([*two, "--sandbox", sandbox, "--no-cache", "--fail-under", "100"]) == 0


@pytest.mark.docker
def test_a_container_that_runs_nothing_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is tried before a batch, so that it cannot become a student's fault."""
    from grader.sandbox import docker  # noqa: PLC0415 - an extra

    def run(_self: object, _job: Job) -> object:
        return LocalSandbox().run(Job(("/bin/sh", "-c", "exit 9")))

    monkeypatch.setattr(docker.DockerSandbox, "run", run)
    with pytest.raises(OurError, match="does not run a program"):
        sandbox_choice.container(gpu=False)
