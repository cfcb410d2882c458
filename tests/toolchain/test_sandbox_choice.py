"""The choice of the sandbox, and the refusal of strangers' files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.base.errors import OurError, ToolMissing
from grader.cli import main
from grader.toolchain import sandbox_choice
from grader.toolchain.sandbox import Job, LocalSandbox, bubblewrap

ROOT = Path(__file__).resolve().parents[2]
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
    output = capsys.readouterr().err
    assert output.startswith("grader: these 2 submissions would be compiled and run with nothing around them")
    for way in ("apt-get install bubblewrap", "grader doctor --build-image", "--i-trust-these-files"):
        assert way in output
    assert not Path(two[-1]).exists()


ONE_AT_A_TIME: dict[str, list[str]] = {
    "a file": ["class/ada.cu"],
    "a folder of a student": ["class"],
    "a folder of one student's folder": ["one"],
    "an archive": ["one.zip"],
    "--only": ["class", "--only", "ada"],
    "--fresh": ["class/ada.cu", "--fresh"],
    "a shard of one": ["class", "--shard", "1/1", "--seed", "7"],
    "prairielearn": ["class", "--format", "prairielearn"],
    "classroom50": ["class", "--format", "classroom50"],
    "a cluster": ["class", "--cluster", "local"],
}
"""Ways to grade one submission, from the folder that holds `class`, `one` and `one.zip`."""


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a program that leaves a file elsewhere, handed in by one student."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRADER_TRUST")
    program = f"""#include <fstream>
int main() {{ std::ofstream("{tmp_path}/reached") << 1; }}
"""
    (tmp_path / "class").mkdir()
    (tmp_path / "class/ada.cu").write_text(program, encoding="utf-8")
    shutil.copytree(tmp_path / "class", tmp_path / "one/ada")
    shutil.make_archive("one", "zip", "one")
    return tmp_path


@pytest.mark.parametrize("way", ONE_AT_A_TIME)
def test_one_submission_is_a_class(way: str, one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By every way in: whose own a file is, `grade` cannot know, so it asks for a sandbox or an answer."""
    command = ["grade", "tile-phases", *ONE_AT_A_TIME[way], "-o", "out", "--sandbox", "local"]
    assert main(command) == 2
    output = capsys.readouterr().err
    assert "this submission would be compiled and run with nothing around it" in output
    assert "--i-trust-these-files" in output
    assert "`grader check` is for a file of your own" in output
    assert not (one / "reached").exists()


@pytest.mark.parametrize("way", ["a file", "prairielearn", "a cluster"])
def test_one_submission_gets_the_best_sandbox_there_is(
    way: str, one: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Unless a sandbox is named, the same as a class: none here, which is refused."""
    monkeypatch.setattr(bubblewrap, "trouble", lambda: "none here")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    assert main(["grade", "tile-phases", *ONE_AT_A_TIME[way], "-o", "out", "--sandbox", "auto"]) == 2
    assert "would be compiled and run with nothing around it" in capsys.readouterr().err
    assert not (one / "reached").exists()


@pytest.mark.skipif(bool(bubblewrap.trouble()), reason="no bubblewrap can be made here")
@pytest.mark.parametrize("way", ["a file", "a folder of a student", "--fresh", "classroom50", "a cluster"])
def test_one_submission_is_shut_in(way: str, one: Path) -> None:
    """In a bubblewrap its program reaches no file of this machine; the same files again, too."""
    command = ["grade", "tile-phases", *ONE_AT_A_TIME[way], "-o", "out", "--sandbox", "bubblewrap"]
    assert main(command) in (0, 2)  # no student has a point, about which it asks
    assert (one / "out/gradebook.csv").is_file()
    assert not (one / "reached").exists()


def test_files_that_a_user_answers_for_are_graded_with_a_warning_each_time(
    two: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line: what they may do, and as whom."""
    monkeypatch.delenv("GRADER_TRUST")
    for user, number in (("root", 0), ("you", 1000)):
        monkeypatch.setattr("os.geteuid", lambda number=number: number)
        assert main([*two, "--sandbox", "local", "--i-trust-these-files"]) == 0
        warnings = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
        assert len(warnings) == 1
        assert warnings[0].startswith("warning: strangers' code runs with nothing around it but limits, as ")
        assert f"as {user}: it can read, change and end whatever {user} can" in warnings[0]


@pytest.mark.parametrize(
    ("assignment", "source", "line"),
    [
        ("tile-phases", "int main() {}\n", True),
        ("matmul-function", "no function\n", True),
        ("vector-add", "no kernel\n", False),
    ],
)
def test_a_check_reports_that_nothing_is_around_a_program(
    assignment: str, source: str, *, line: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One's own file is run by whoever types it; of a kernel no host code runs."""
    file = tmp_path / "mine.cu"
    file.write_text(source, encoding="utf-8")
    assert main(["check", assignment, str(file), "--sandbox", "local"]) == 1
    output = capsys.readouterr().err.splitlines()
    assert (
        len([text for text in output if text.startswith("this program runs with nothing around it")]) == line
    )


@pytest.mark.skipif(bool(bubblewrap.trouble()), reason="no bubblewrap can be made here")
def test_a_check_in_a_sandbox_needs_no_such_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Something is around the program."""
    file = tmp_path / "mine.cu"
    file.write_text("int main() {}\n", encoding="utf-8")
    assert main(["check", "tile-phases", str(file), "--sandbox", "bubblewrap"]) == 1
    assert "nothing around it" not in capsys.readouterr().err


def test_without_an_engine_docker_is_reported_as_not_answering(
    two: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 3, and no word of a student."""
    pytest.importorskip("docker", reason="the engine's library is an extra")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    assert main([*two, "--sandbox", "docker"]) == 3
    assert "the container engine does not answer" in capsys.readouterr().err


def test_without_bubblewrap_the_message_explains_how_to_get_it(
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
    """Containers see this machine's compiler where no image can be built, and full marks are full marks."""
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
    from grader.toolchain.sandbox import docker  # noqa: PLC0415 - an extra

    def run(_self: object, _job: Job) -> object:
        return LocalSandbox().run(Job(("/bin/sh", "-c", "exit 9")))

    monkeypatch.setattr(docker.DockerSandbox, "run", run)
    with pytest.raises(OurError, match="does not run a program"):
        sandbox_choice.container(gpu=False)
