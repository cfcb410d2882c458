"""The command line: help, exit codes, what is printed and what is written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.cli import main
from tests.mistakes import mistake_file

if TYPE_CHECKING:
    from tests.conftest import Golden

ROOT = Path(__file__).resolve().parents[2]
SOLUTION = ROOT / "reference/matmul/solution.cu"
MISTAKES = ROOT / "reference/matmul/mistakes"


COMMANDS = (
    "check",
    "list",
    "trace",
    "estimate",
    "grade",
    "gradebook",
    "feedback",
    "report",
    "merge",
    "rescore",
    "questions",
    "new",
    "validate",
    "export-student",
    "export-gradescope",
    "completion",
    "doctor",
)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_is_complete(
    command: str, golden: Golden, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command has help with an example, and exits 0."""
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "--help"])
    assert ended.value.code == 0
    golden(f"cli/help-{command or 'grader'}.txt", capsys.readouterr().out)


def test_asking_for_help_loads_no_command() -> None:
    """The commands are listed at once; a command and what it needs are loaded when it is typed."""
    code = (
        "import sys\nfrom grader.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
        "print([name for name in sys.modules if name in ('numpy', 'pydantic', 'grader.model')])"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("command", ["check", "grade", "report", "validate"])
def test_the_help_of_a_command_loads_nothing_that_only_a_run_needs(command: str) -> None:
    """Neither NumPy nor the records; the modules of ours are those that read the command line."""
    code = (
        "import sys\nfrom grader.cli import main\n"
        f"try: main(['{command}', '--help'])\nexcept SystemExit: pass\n"
        "print(sum(name.startswith('grader.') for name in sys.modules))\n"
        "print([name for name in ('numpy', 'pydantic', 'rich', 'grader.model') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    *_, modules, heavy = ran.stdout.splitlines()
    assert (int(modules) <= 20, heavy) == (True, "[]")


def test_a_check_loads_nothing_of_a_class(tmp_path: Path) -> None:
    """Loading takes more of a check than all else: downloads, archives, YAML and masked arrays stay away.

    So does what compiles, where the build was kept. Nor is what is loaded looked through for garbage: that
    was done 115 times.
    """
    code = (
        "import gc, sys\nfrom grader.cli import main\nlooks = []\n"
        "gc.callbacks.append(lambda phase, _: looks.append(phase))\n"
        f"main(['check', 'tiled-matmul', '{SOLUTION}'])\n"
        "print([name for name in sys.modules if name in ('grader.classroom.course', "
        "'grader.reports.class_table', 'grader.toolchain.nvcc.stage', 'grader.toolchain.nvcc.compiler', "
        "'zipfile', 'tarfile', 'yaml', 'socket', 'numpy.ma', 'itanium_demangler')])\n"
        "print(sum(name.startswith('grader.') for name in sys.modules))\n"
        "print(looks.count('start'))"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    for _ in range(2):  # the first one reads the assignment's YAML and compiles, and keeps what it made
        command = [sys.executable, "-c", code]
        ran = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    *_, modules, ours, looks = ran.stdout.splitlines()
    assert (modules, int(ours) <= 278, int(looks) < 30) == ("[]", True, True)


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("grader gr", "grade gradebook"),
        ("grader check til", "tile-phases tiled-matmul tiled-matmul-square"),
        ("grader new mine --like vec", "vector-add"),
        ("grader grade tiled-matmul --sk", "--skip-unmatched"),
        ("grader check ./pypro", "./pyproject.toml"),
        ("grader no-such-command --x", ""),
        ("grader check $(touch owned) ", ""),
    ],
)
def test_a_shell_completes_what_may_stand_there(line: str, offered: str, tmp_path: Path) -> None:
    """Commands, options, their values, ids of assignments and files; what was typed is never run."""
    completions = tmp_path / "completions"
    asked = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": " ", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    asked |= {"COMP_TYPE": "9", "_ARGCOMPLETE_STDOUT_FILENAME": str(completions)}
    command = [sys.executable, "-m", "grader"]
    subprocess.run(command, check=False, capture_output=True, env={**os.environ, **asked}, cwd=ROOT)
    words = {word.rstrip() for word in (completions.read_text() if completions.exists() else "").split()}
    assert set(offered.split()) <= words
    assert offered or not any(word.startswith("til") for word in words)
    assert not (ROOT / "owned").exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_for_the_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It is what the shell evaluates; bash, which is here, finds nothing wrong with it."""
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "_ARGCOMPLETE" in script
    assert "grader" in script
    if shell == "bash":
        check = f"{script}\ncomplete -p grader"
        ran = subprocess.run(["/bin/bash", "-c", check], check=True, capture_output=True, text=True)
        assert ran.stdout.startswith("complete ")
        assert not ran.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "no-such-thing", "x.cu"], "tiled-matmul"),
        (["check", "tiled-matmul", "does/not/exist.cu"], "does/not/exist.cu"),
        (["grade", "tiled-matmul", "does/not/exist", "-o", "out"], "does/not/exist"),
        (["report", "does/not/exist"], "no grades here"),
        (["check", "tiled-matmul", str(SOLUTION), "--backend", "gpu"], "no NVIDIA GPU was found"),
        (["check", "tiled-matmul", str(MISTAKES)], "`grade` takes a class"),
        (["trace", "tiled-matmul", str(MISTAKES)], "`trace` takes one, `grade` takes a class"),
        (["check", "tiled-matmull", str(SOLUTION)], "did you mean `tiled-matmul`?"),
        (["check", str(SOLUTION), "tiled-matmul"], "the assignment comes first"),
    ],
)
def test_wrong_usage_is_answered_with_a_next_step(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Exit code 2, one message, no traceback."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("grader.toolchain.gpu.devices.missing_libraries", tuple)
    monkeypatch.setattr("grader.toolchain.gpu.devices.find_gpus", tuple)
    assert main(arguments) == 2
    output = capsys.readouterr().err
    assert message in output
    assert output.startswith("grader: ")
    assert "Traceback" not in output


@pytest.mark.parametrize(
    ("assignment", "file", "meant"),
    [
        ("tiled-matmul", r".\mine.cu", "mine.cu"),
        ("tiled-matmul", r"labs\one\mine.cu", "labs/one/mine.cu"),
        (r"labs\one", "mine.cu", "labs/one"),
    ],
)
def test_a_path_as_windows_completes_it_is_suggested_as_it_is_here(
    assignment: str,
    file: str,
    meant: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """PowerShell completes with backslashes what is then looked for in a container."""
    lab = tmp_path / "labs/one"
    lab.mkdir(parents=True)
    for path in (tmp_path / "mine.cu", lab / "mine.cu", lab / "assignment.yaml"):
        path.touch()
    monkeypatch.chdir(tmp_path)
    assert main(["check", assignment, file]) == 2
    assert capsys.readouterr().err.replace("\n", " ").endswith(f"did you mean `{meant}`? ")


@pytest.mark.parametrize("typed", ["check tiled-matmul mine.cu", "list", ""])
def test_in_windows_itself_a_message_names_where_it_works(typed: str) -> None:
    """Modules that only Unix has are missing there, and no fault of the grader is reported."""
    unlike = "import sys; sys.modules.update(fcntl=None, resource=None, pwd=None)"
    program = (
        f"{unlike}; from grader.cli import main; sys.platform = 'win32'; sys.exit(main({typed.split()}))"
    )
    ran = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    (line,) = ran.stderr.splitlines()
    assert (ran.returncode, ran.stdout) == (3, "")
    assert "WSL 2" in line


@pytest.mark.parametrize(
    "command",
    [
        "export-student vector-add {file}",
        "questions memory-analysis --roster {roster} -o {file}/sheets",
        "new mine --in {file}",
    ],
)
def test_a_file_in_the_place_of_a_folder_is_wrong_usage(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, as `grade` has for its folder, and no fault of ours."""
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "roster.csv").write_text("id\nada\n")
    words = command.format(file=tmp_path / "file", roster=tmp_path / "roster.csv").split()
    assert main(words) == 2
    assert f"grader: {tmp_path / 'file'}" in (output := capsys.readouterr().err)
    assert "is no folder; choose another one" in output


def test_an_nvcc_that_is_not_there_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, one message, and a next step."""
    assert main(["check", "tiled-matmul", str(SOLUTION), "--nvcc", str(tmp_path / "nvcc")]) == 2
    output = capsys.readouterr().err
    assert "nvcc" in output
    assert "name another" in output


def test_check_gives_full_marks_to_the_model_solution(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 0; JSON and JUnit are written where asked; the timings are shown."""
    written = [
        f"--json={tmp_path / 'g.json'}",
        f"--junit={tmp_path / 'j.xml'}",
        f"--html={tmp_path / 'r.html'}",
    ]
    assert main(["check", "tiled-matmul", str(SOLUTION), "--timings", *written]) == 0
    shown = capsys.readouterr().out
    assert "90" in shown
    assert "total" in shown
    grade = json.loads((tmp_path / "g.json").read_text())
    assert (grade["verdict"], grade["score"], grade["max_score"]) == ("pass", 90, 90)
    assert grade["seed"] == 1
    assert {case["id"] for case in grade["cases"]} >= {"mp3", "single-element"}
    assert (tmp_path / "j.xml").read_text().startswith("<?xml")
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    "mistake",
    ["no_first_barrier", "no_load_guard", "does_not_compile", "wrong_kernel_name", "row_and_column_swapped"],
)
def test_check_tells_a_student_what_to_do_next(
    mistake: str, golden: Golden, capsys: pytest.CaptureFixture[str]
) -> None:
    """The feedback on a mistake: exit code 1, the line, the element, what to try."""
    file = str(mistake_file(MISTAKES / f"{mistake}.cu"))
    assert main(["check", "tiled-matmul", file, "--width", "100"]) == 1
    golden(f"cli/check-{mistake}.txt", capsys.readouterr().out)


@pytest.mark.slow
def test_fail_under_decides_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    """A submission with most of its points is below 100 % but not below 50 %."""
    file = str(mistake_file(MISTAKES / "no_first_barrier.cu"))
    assert main(["check", "tiled-matmul", file, "--fail-under", "50"]) == 0
    assert main(["check", "tiled-matmul", file, "--fail-under", "95%"]) == 1
    capsys.readouterr()


@pytest.mark.parametrize("share", ["1e999999999", "101", "-1", "1/0", "half", "9" * 5000, "٥٠"])
def test_a_share_that_is_no_percentage_is_a_usage_error_at_once(
    share: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A number with an exponent would be written out digit by digit, for hours."""
    with pytest.raises(SystemExit) as ended:
        main(["check", "tiled-matmul", "a.cu", f"--fail-under={share}"])
    assert ended.value.code == 2
    assert "percentage" in capsys.readouterr().err
