"""The command line: help, exit codes, what is printed and what is written."""

from __future__ import annotations

import json
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

from grader.batch import OutFolder
from grader.cli import main
from grader.errors import GraderError

if TYPE_CHECKING:
    from tests.conftest import Golden

ROOT = Path(__file__).resolve().parents[1]
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
    """What there is to type is listed at once; a command and what it needs are loaded when it is typed."""
    code = (
        "import sys\nfrom grader.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
        "print([name for name in sys.modules if name in ('numpy', 'pydantic', 'grader.model')])"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout.splitlines()[-1] == "[]"


def test_a_check_loads_nothing_of_a_class(tmp_path: Path) -> None:
    """Loading takes more of a check than all else: downloads, archives, YAML and masked arrays stay away.

    Nor is what is loaded looked through for garbage: that was done 115 times.
    """
    code = (
        "import gc, sys\nfrom grader.cli import main\nlooks = []\n"
        "gc.callbacks.append(lambda phase, _: looks.append(phase))\n"
        f"main(['check', 'tiled-matmul', '{SOLUTION}'])\n"
        "print([name for name in sys.modules if name in ('grader.course', 'grader.reports.class_table', "
        "'zipfile', 'tarfile', 'yaml', 'socket', 'numpy.ma')])\n"
        "print(looks.count('start'))"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    for _ in range(2):  # the first one reads the assignment's YAML, and keeps what it says
        command = [sys.executable, "-c", code]
        ran = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    *_, modules, looks = ran.stdout.splitlines()
    assert (modules, int(looks) < 30) == ("[]", True)


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
def test_a_shell_is_told_what_may_stand_there(line: str, offered: str, tmp_path: Path) -> None:
    """Commands, options, their values, ids of assignments and files; what was typed is never run."""
    told = tmp_path / "told"
    asked = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": " ", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    asked |= {"COMP_TYPE": "9", "_ARGCOMPLETE_STDOUT_FILENAME": str(told)}
    command = [sys.executable, "-m", "grader"]
    subprocess.run(command, check=False, capture_output=True, env={**os.environ, **asked}, cwd=ROOT)
    words = {word.rstrip() for word in (told.read_text() if told.exists() else "").split()}
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
    ("arguments", "says"),
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
    says: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Exit code 2, one message, no traceback."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("grader.gpu.devices.missing_libraries", tuple)
    monkeypatch.setattr("grader.gpu.devices.find_gpus", tuple)
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert says in told
    assert told.startswith("grader: ")
    assert "Traceback" not in told


@pytest.mark.parametrize("typed", ["check tiled-matmul mine.cu", "list", ""])
def test_in_windows_itself_a_sentence_says_where_it_works(typed: str) -> None:
    """Modules that only Unix has are missing there, and nobody is told of a fault of the grader."""
    unlike = "import sys; sys.modules.update(fcntl=None, resource=None, pwd=None)"
    program = (
        f"{unlike}; from grader.cli import main; sys.platform = 'win32'; sys.exit(main({typed.split()}))"
    )
    ran = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    (line,) = ran.stderr.splitlines()
    assert (ran.returncode, ran.stdout) == (3, "")
    assert "WSL 2" in line


def test_an_nvcc_that_is_not_there_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, one message, and a next step."""
    assert main(["check", "tiled-matmul", str(SOLUTION), "--nvcc", str(tmp_path / "nvcc")]) == 2
    told = capsys.readouterr().err
    assert "nvcc" in told
    assert "name another" in told


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
    assert main(["check", "tiled-matmul", str(MISTAKES / f"{mistake}.cu"), "--width", "100"]) == 1
    golden(f"cli/check-{mistake}.txt", capsys.readouterr().out)


@pytest.mark.slow
def test_fail_under_decides_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    """A submission with most of its points is below 100 % but not below 50 %."""
    file = str(MISTAKES / "no_first_barrier.cu")
    assert main(["check", "tiled-matmul", file, "--fail-under", "50"]) == 0
    assert main(["check", "tiled-matmul", file, "--fail-under", "95%"]) == 1
    capsys.readouterr()


@pytest.fixture
def small_class(tmp_path: Path) -> Path:
    """Three submissions: right, racy, and one that does not compile."""
    folder = tmp_path / "class"
    folder.mkdir()
    shutil.copy(SOLUTION, folder / "ada.cu")
    shutil.copy(MISTAKES / "no_second_barrier.cu", folder / "bob.cu")
    shutil.copy(MISTAKES / "does_not_compile.cu", folder / "cy.cu")
    return folder


def test_a_class_is_graded_resumed_and_reported(
    small_class: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All files of DESIGN are there; a second run grades only what is new or changed, with the same seed."""
    out = tmp_path / "out"
    command = ["grade", "tiled-matmul", str(small_class), "-o", str(out), "-j", "2"]
    assert main(command) == 0
    files = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file() and path.name != ".lock"}
    expected = {
        f"grades/{s}/{f}"
        for s in ("ada", "bob", "cy")
        for f in (
            "record.json",
            "grade.json",
            "junit.xml",
            "results.json",
            "report.html",
            "staff.html",
            f"source/{s}.cu",
        )
    }
    expected.add("grades/bob/trace.json.gz")  # of the race
    of_class = {"import.json", "junit.xml", "gradebook.csv", "index.html", "similar.html", "journal.jsonl"}
    assert files == expected | of_class
    first = {s: (out / f"grades/{s}/grade.json").stat().st_mtime_ns for s in ("ada", "bob", "cy")}
    seeds = {json.loads((out / f"grades/{s}/grade.json").read_text())["seed"] for s in first}

    shutil.copy(
        MISTAKES / "naive.cu" if (MISTAKES / "naive.cu").exists() else SOLUTION, small_class / "dee.cu"
    )
    (small_class / "cy.cu").write_bytes(SOLUTION.read_bytes() + b"\n// again\n")
    capsys.readouterr()
    assert main(command) == 0
    second = {s: (out / f"grades/{s}/grade.json").stat().st_mtime_ns for s in ("ada", "bob", "cy", "dee")}
    assert (second["ada"], second["bob"]) == (first["ada"], first["bob"])
    assert second["cy"] != first["cy"]
    grades = {s: json.loads((out / f"grades/{s}/grade.json").read_text()) for s in second}
    assert {grade["seed"] for grade in grades.values()} == seeds
    assert grades["cy"]["verdict"] == "pass"
    assert "2 of 4 were graded before" in capsys.readouterr().out

    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert main(["report", str(out)]) == 0
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.slow
def test_what_was_withdrawn_stays_withdrawn(small_class: Path, tmp_path: Path) -> None:
    """`report` shows the class as the last batch saw it, also where older grades are still stored."""
    out = tmp_path / "out"
    command = ["grade", "tiled-matmul", str(small_class), "-o", str(out), "--seed", "1"]
    assert main(command) == 0
    (small_class / "bob.cu").unlink()
    assert main(command) == 0
    assert main(["report", str(out)]) == 0
    assert [line.split(",")[0] for line in (out / "gradebook.csv").read_text().splitlines()[1:]] == [
        "ada",
        "cy",
    ]


@pytest.mark.slow
def test_a_damaged_grade_is_graded_again(small_class: Path, tmp_path: Path) -> None:
    """A file that a power cut emptied costs a new run of that submission, and nothing else."""
    command = ["grade", "tiled-matmul", str(small_class), "-o", str(tmp_path / "out"), "--seed", "1"]
    assert main(command) == 0
    record = tmp_path / "out/grades/bob/record.json"
    record.write_text("")
    assert main(command) == 0
    assert json.loads(record.read_text())["grade"]["submission_id"] == "bob"


@pytest.mark.slow
def test_an_out_folder_among_the_submissions_is_no_submission(small_class: Path) -> None:
    """Graded in place and again, the class has as many students as before."""
    command = ["grade", "tiled-matmul", str(small_class), "-o", str(small_class / "out"), "--seed", "1"]
    assert [main(command), main(command)] == [0, 0]
    assert len((small_class / "out/gradebook.csv").read_text().splitlines()) == 1 + 3


def test_files_for_students_name_no_hidden_case(small_class: Path, tmp_path: Path) -> None:
    """Neither its id, nor its shape, nor the seed; what staff keep does."""
    out = tmp_path / "out"
    assert main(["grade", "tiled-matmul", str(small_class), "-o", str(out), "--seed", "918273645"]) == 0
    for name in ("junit.xml", "results.json", "report.html"):
        text = (out / "grades/bob" / name).read_text()
        assert "whole-tiles-tall" not in text
        assert "K=96" not in text
        assert "918273645" not in text
    assert "whole-tiles-tall" in (out / "grades/bob/grade.json").read_text()


@pytest.mark.slow
def test_another_seed_or_assignment_is_told_and_grades_anew(
    small_class: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody is regraded in silence."""
    command = ["grade", "tiled-matmul", str(small_class), "-o", str(tmp_path / "out"), "--seed"]
    assert main([*command, "1"]) == 0
    assert main([*command, "2"]) == 0
    assert "seed (1 → 2)" in " ".join(capsys.readouterr().err.split())


def test_two_batches_never_write_into_one_folder(
    small_class: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second is refused with exit code 2, and nothing is touched."""
    out = OutFolder(tmp_path / "out")
    with out.locked():
        assert main(["grade", "tiled-matmul", str(small_class), "-o", str(out.path)]) == 2
    assert "another grader is writing here" in capsys.readouterr().err
    assert not (out.path / "journal.jsonl").exists()


def test_asked_to_stop_it_says_how_to_go_on(small_class: Path, tmp_path: Path) -> None:
    """SIGTERM is answered like Ctrl-C: exit code 130 and one line."""
    for number in range(4):  # enough to do that it cannot be over before it is asked
        shutil.copy(MISTAKES / "infinite_loop.cu", small_class / f"slow-{number}.cu")
    command = [
        sys.executable,
        "-m",
        "grader",
        "grade",
        "tiled-matmul",
        str(small_class),
        "-o",
        str(tmp_path / "out"),
    ]
    batch = subprocess.Popen([*command, "--no-cache"], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "out/journal.jsonl").exists():
        time.sleep(0.05)
    batch.terminate()
    _, told = batch.communicate(timeout=60)
    assert batch.returncode == 130, told
    assert told.startswith("grader: stopped; run the same command again")
    assert "Traceback" not in told


def test_asked_to_stop_while_it_says_why_it_failed_it_says_how_to_go_on(
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
    command = [sys.executable, "-m", "stopped"]
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


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_without_a_standard_output_it_does_its_work(closed: str, tmp_path: Path) -> None:
    """As in a job that closes what it does not read; Python has no stream there."""
    sheets = tmp_path / "class"
    sheets.mkdir()
    (sheets / "ada.yaml").write_text("student: ada\nanswers:\n  blocks-x: 75\n")
    out = tmp_path / "out"
    grade = f"{sys.executable} -m grader grade memory-analysis {sheets} -o {out} {closed}"
    ended = subprocess.run(["/bin/sh", "-c", grade], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert (out / "gradebook.csv").exists()
    wrong = f"{sys.executable} -m grader grade memory-analysis {sheets} -o {sheets} {closed}"
    assert (
        subprocess.run(["/bin/sh", "-c", wrong], cwd=ROOT, capture_output=True, check=False).returncode == 2
    )


@pytest.mark.slow
def test_two_runs_with_one_seed_give_the_same_grades(small_class: Path, tmp_path: Path) -> None:
    """Everything but the time it took is the same to the byte."""
    texts = []
    for out in (tmp_path / "one", tmp_path / "two"):
        assert main(["grade", "tiled-matmul", str(small_class), "-o", str(out), "--seed", "7"]) == 0
        grade = json.loads((out / "grades/bob/grade.json").read_text())
        grade.pop("timing", None)
        grade.pop("seconds", None)
        for case in grade["cases"]:
            case.pop("seconds")
        texts.append(json.dumps(grade))
    assert texts[0] == texts[1]


def test_an_out_folder_below_a_file_is_a_wrong_use(
    small_class: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 and a message that says what to do; nothing is lost."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert main(["grade", "tiled-matmul", str(small_class), "-o", str(blocked / "out")]) == 2
    assert "is no folder; choose another one with -o" in capsys.readouterr().err
