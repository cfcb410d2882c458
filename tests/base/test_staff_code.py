"""An oracle that fails, prints or does not end, seen from the command line and in what students read."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from grader.base import staff_code
from grader.base.errors import OurError
from grader.classroom.batch import executor
from grader.cli import main
from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.reports.files import of_submission
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.authoring.validation import small_assignment
from tests.builds import shared_builds

if TYPE_CHECKING:
    from pathlib import Path

ENDLESS = "    while shape['N'] == {size}: pass\n    twice = "


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of a small assignment, with the model solution as a student's file beside it."""
    (tmp_path / "mine.cu").write_text(small_assignment.SOLUTION)
    return small_assignment.write(tmp_path)


def _change_oracle(home: Path, original: str, changed: str) -> Path:
    file = home.parents[1] / "reference/double/oracle.py"
    text = file.read_text()
    assert original in text
    file.write_text(text.replace(original, changed))
    return file


def test_a_check_whose_oracle_never_ends_names_the_case_and_the_place(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 3, as for an oracle that fails, with the file, the function, the case and the seconds."""
    monkeypatch.setattr(staff_code, "SECONDS", 0.5)
    oracle = _change_oracle(home, "    twice = ", ENDLESS.format(size=45))
    assert main(["check", str(home), str(home.parents[1] / "mine.cu")]) == 3
    message = (
        f"grader: case `odd`: {oracle}:11: the oracle's `expected` was stopped after 0 seconds; make the case"
    )
    assert message in capsys.readouterr().err


def test_a_validation_whose_oracle_never_ends_waits_for_it_once(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints what it waits for, and does not try the skeleton on the same oracle."""
    monkeypatch.setattr(staff_code, "SECONDS", 0.5)
    oracle = _change_oracle(home, "    twice = ", ENDLESS.format(size=45))
    assert main(["validate", str(home), "--backend", "emulator"]) == 3
    printed = capsys.readouterr()
    assert "".join(printed.err.split()) == f"waitingfortheoracle's`expected`({oracle})"
    assert " ".join(printed.out.split()).count("was stopped after 0 seconds") == 1


# What stops it must meet it in the try, where it spends all of its time but a hundred-thousandth.
CATCHING = """    while shape['N'] == 45:
        try:
            sum(range(1_000_000))
        except:
            pass
    twice = """


def test_an_oracle_that_catches_what_stops_it_ends_as_an_error_that_names_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bare `except:` in a loop: the process that grades ends, the parent gets the sentence."""
    monkeypatch.setattr(staff_code, "SECONDS", 0.5)
    monkeypatch.setattr(staff_code, "GRACE", 0.2)
    oracle = _change_oracle(home, "    twice = ", CATCHING)
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(load_assignment(home), 1, tools, visible_only=False)
    submission = Submission("ada", "ada.cu", small_assignment.SOLUTION.encode(), "")
    context = multiprocessing.get_context("fork")
    graded = executor.isolated(context, plan, submission, tools, (60.0, 60))  # type: ignore[arg-type]
    assert graded.grade.verdict is Verdict.ERROR
    assert (
        f"the oracle's `expected` ({oracle}) was stopped after 0 seconds and went on, for it catches every "
        "exception; write `except Exception:`"
    ) in graded.grade.error


def test_a_check_whose_oracle_catches_what_stops_it_ends(home: Path) -> None:
    """Exit code 3 with one sentence."""
    _change_oracle(home, "    twice = ", CATCHING)
    script = (
        "import sys; from grader.base import staff_code; from grader.cli.main import main; "
        "staff_code.SECONDS = staff_code.GRACE = 0.2; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", script, "check", str(home), str(home.parents[1] / "mine.cu")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 3
    assert "went on, for it catches every exception" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_staff_code_that_catches_everything_ends_also_where_no_one_listens() -> None:
    """Standard error is closed, as in a job that does not read it: printing why fails, and that is caught."""
    script = """
from grader.base import staff_code
staff_code.SECONDS = staff_code.GRACE = 0.1
with staff_code.running("the oracle"):
    while True:
        try:
            sum(range(1000))
        except:
            pass
"""
    ran = subprocess.run(
        ["/bin/sh", "-c", 'exec "$0" -c "$1" 2>&-', sys.executable, script], check=False, timeout=20
    )
    assert ran.returncode == 3


def test_what_an_oracle_makes_up_after_it_was_stopped_does_not_count(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It caught what stopped it, and answers with what it had: that may be anything."""
    monkeypatch.setattr(staff_code, "SECONDS", 0.5)
    caught = "    try:\n        while shape['N'] == 45: pass\n    except:\n        pass\n    twice = "
    _change_oracle(home, "    twice = ", caught)
    assert main(["check", str(home), str(home.parents[1] / "mine.cu")]) == 3
    assert "the oracle's `expected` was stopped after 0 seconds; make" in capsys.readouterr().err


def test_an_oracle_that_prints_spoils_no_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its output is on standard error."""
    _change_oracle(home, "    twice = ", '    print("I am here")\n    twice = ')
    assert main(["check", str(home), str(home.parents[1] / "mine.cu"), "--format", "sarif"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["version"] == "2.1.0"
    assert "I am here" in printed.err


def test_an_oracle_that_fails_in_a_hidden_case_reveals_nothing_of_it_to_students(home: Path) -> None:
    """Its message names the case and its shape, which is for staff."""
    _change_oracle(
        home, "    twice = ", "    if shape['N'] == 1: raise ValueError(f'N is {shape}')\n    twice = "
    )
    assignment = load_assignment(home)
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(assignment, 1, tools, visible_only=False)
    submission = Submission("ada", "ada.cu", small_assignment.SOLUTION.encode(), "")
    with pytest.raises(
        OurError, match=r"case `one`: .*oracle\.py:11: the oracle's `expected` failed"
    ) as raised:
        pipeline.grade(plan, submission, tools)
    written = of_submission(pipeline.failed(plan, submission, str(raised.value)), source=[])
    for_staff = {"staff.html", "record.json", "grade.json"}
    assert all("oracle" in written[name] for name in for_staff & set(written))
    shown = {name: text for name, text in written.items() if name not in for_staff}
    assert len(shown) >= 3
    assert not [name for name, text in shown.items() if "`one`" in text or "oracle" in text]


def test_hypotheses_that_print_spoil_no_json_and_that_never_end_cost_no_grade(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are the staff's code as the oracle is, and asked only about what is wrong."""
    monkeypatch.setattr(staff_code, "SECONDS", 0.5)
    hypotheses = home.parents[1] / "reference/double/hypotheses.py"
    hypotheses.write_text("def predictions(output):\n    print('asked')\n    while True: pass\n    yield\n")
    wrong = home.parents[1] / "wrong.cu"
    wrong.write_text(small_assignment.SOLUTION.replace("+ x[i]", "+ 3.25f"))
    assert main(["check", str(home), str(wrong), "--format", "sarif"]) == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out)["version"] == "2.1.0"
    assert "asked" in printed.err
