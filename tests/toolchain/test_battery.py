"""The battery of attacks: its tables, its runner, and, where there is a sandbox, that it holds."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from argparse import Namespace
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from attacks import device_code, judge, run, traces
from attacks.battery import Battery, Tried
from attacks.judge import Trial, complaints
from attacks.table import BATTERIES, FOLDER, load_attacks, markdown
from attacks.world import World

from grader.base.errors import OurError, UsageError
from grader.classroom.course.download import read_download
from grader.cli import main
from grader.grading.assignment import load_assignment
from grader.model import (
    Build,
    Case,
    CaseEvidence,
    CheckResult,
    Evidence,
    Finding,
    FindingCode,
    FindingKind,
    Grade,
    ItemGrade,
    ProgramRun,
    RubricItem,
    Verdict,
    Visibility,
)
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.nvcc.program import build_program
from grader.toolchain.sandbox import LocalSandbox, Outcome, Result, Status
from grader.toolchain.sandbox import bubblewrap as wrapping
from tests.builds import shared_builds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from attacks.table import Attack

ATTACKS = load_attacks()
BY_NAME = {each.name: each for each in ATTACKS}
README = Path(__file__).parents[2] / "sandbox" / "README.md"
BEGIN, END = "<!-- attacks -->\n", "<!-- end of attacks -->\n"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world with bait; the folder of the tests' own files is made before it."""
    tmp_path_factory.getbasetemp()
    with World() as made:
        yield made


# --- the tables ----------------------------------------------------------------------------------------


def test_there_are_at_least_45_attacks_with_names_of_their_own() -> None:
    """Each file is in its table, each entry is a file (else loading fails), and no name comes twice."""
    assert len(BY_NAME) == len(ATTACKS) >= 45
    assert not set(BY_NAME) & device_code.names()


@pytest.mark.parametrize("each", ATTACKS, ids=lambda each: each.name)
def test_an_attack_states_what_it_tries_and_what_is_true_after_it(each: Attack) -> None:
    """In the comment at its top; and it is short enough to be read."""
    text = each.path.read_text("utf-8")
    top = re.match(r"(//.*\n)+", text)
    assert top is not None
    assert "// After it: " in top[0]
    assert len(text.splitlines()) <= 70


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"tries": "x", "ends": ["exit"]},
        {"tries": "x", "ends": [], "verdict": "fail"},
        {"tries": "x", "ends": ["somehow"], "verdict": "fail"},
        {"tries": "x", "ends": ["exit"], "verdict": "maybe"},
        {"tries": "x", "ends": ["exit"], "verdict": "fail", "contained_by": ["hope"]},
        {"tries": "x", "ends": ["exit"], "verdict": "fail", "needs": "luck"},
        {"tries": "x", "ends": ["exit"], "verdict": "fail", "agian": True},
    ],
    ids=["empty", "no verdict", "no end", "an end", "a verdict", "a sandbox", "a need", "a key"],
)
def test_a_table_with_a_mistake_is_refused(entry: dict[str, object], tmp_path: Path) -> None:
    """A misspelt key or word would be a check that is never made."""
    for battery in BATTERIES:
        (tmp_path / battery).mkdir()
        (tmp_path / battery / "one.cu").touch()
        (tmp_path / battery / "attacks.yaml").write_text(json.dumps({"one.cu": entry}))
    with pytest.raises(OurError, match=re.escape("one.cu: wrong or missing")):
        load_attacks(tmp_path)


def test_a_file_without_an_entry_is_refused(tmp_path: Path) -> None:
    """It would never be run."""
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "new.cu").touch()
    (tmp_path / "programs" / "attacks.yaml").write_text("{}")
    with pytest.raises(OurError, match=re.escape("differ: new.cu")):
        load_attacks(tmp_path)


def test_the_readme_has_the_table() -> None:
    """The table that staff read lists the attacks that are run."""
    text = README.read_text("utf-8")
    assert text.partition(BEGIN)[2].partition(END)[0] == markdown(ATTACKS)


# --- the sources ---------------------------------------------------------------------------------------


HOST_PROGRAMS = [
    each for each in ATTACKS if each.battery == "programs" and not each.needs_gpu and not each.device
]


@pytest.mark.slow
def test_every_program_compiles(tmp_path: Path) -> None:
    """As C++, without a warning: one that did not would be contained for the wrong reason."""
    compiler, include = str(shutil.which("g++")), FOLDER / "assignment"
    options = ["-std=c++17", "-Wall", "-Wextra", "-Wno-unused-parameter"]
    header = ["-x", "c++-header", "-w", str(include / "attack.h"), "-o", str(tmp_path / "attack.h.gch")]
    subprocess.run([compiler, *options, *header], check=True)  # read once for all of them
    files = [str(each.path) for each in HOST_PROGRAMS]
    command = [compiler, "-x", "c++", *options, "-Werror", "-fsyntax-only", f"-I{tmp_path}", f"-I{include}"]
    done = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "each", [each for each in ATTACKS if each.needs_gpu or each.device], ids=lambda each: each.name
)
def test_a_program_for_a_device_compiles_and_calls_cuda(each: Attack) -> None:
    """One that did not call CUDA would run where no GPU is, and be contained by that."""
    interface = load_assignment(FOLDER / "assignment").program
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    built = build_program(tools, read_download(each.path).submissions[0], interface)
    assert built.error == ""
    assert built.ok is ("does-not-compile" not in each.ends)
    assert built.calls_device is built.ok


# --- the world -----------------------------------------------------------------------------------------


def test_the_services_of_the_world_notice_who_comes() -> None:
    """Each of the four services reports its guest, and no others are reported."""
    with World() as world:
        places = dict(word.split("=", 1) for word in world.arguments(BY_NAME["connects_by_tcp"]))
        for family, address in (
            (socket.AF_INET, ("127.0.0.1", int(places["tcp"]))),
            (socket.AF_UNIX, places["unix"]),
            (socket.AF_UNIX, f"\0{places['abstract']}"),
        ):
            with socket.socket(family) as guest:
                guest.connect(address)
        with socket.socket(type=socket.SOCK_DGRAM) as guest:
            guest.sendto(b"x", ("127.0.0.1", int(places["udp"])))
    reported = {words.split()[1] for words in world.contacts}
    assert reported == {"tcp", "udp", "unix", "abstract"}


def test_nothing_of_the_world_is_left() -> None:
    """Its files are gone, and so is the secret in our environment."""
    with World() as world:
        places = [world.folder, *world.files.values()]
        assert all(place.exists() for place in places)
    assert not any(place.exists() for place in places)
    assert world.canary not in os.environ.values()


def test_what_is_left_is_found(world: World) -> None:
    """A file with the mark, a file in our temporary folder, and a process that bears the mark."""
    assert list(traces.traces(world, "local")) == []
    mark = world.mark_of(BY_NAME["double_fork"])
    with subprocess.Popen(
        [sys.executable, "-S", "-c", "print(1, flush=True); input()", mark],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        left = world.temporary / "left"
        left.touch()
        found = list(traces.traces(world, "local"))
        left.unlink()
    assert found == [f"a process is left: {process.pid} -double_fork", f"a file is left: {left}"]


# --- the judgement -------------------------------------------------------------------------------------


def grade(verdict: Verdict, *, compiles: bool = True, error: str = "", message: str = "") -> Grade:
    """A grade with this verdict and an item for the compilation."""
    item = RubricItem("compiles", "Compiles", Fraction(10), "compile")
    result = CheckResult(item, Verdict.PASS if compiles else Verdict.FAIL, Fraction(0), message)
    return Grade(
        assignment_id="attack",
        assignment_title="",
        assignment_digest="",
        submission_id="x",
        submission_file="x.cu",
        submission_digest="",
        backend="emulator",
        device="",
        toolkit="",
        seed=1,
        verdict=verdict,
        score=Fraction(0),
        max_score=Fraction(10),
        skipped_points=Fraction(0),
        items=(ItemGrade(result, Fraction(0), Fraction(10)),),
        cases=(),
        error=error,
    )


def trial(
    graded: Grade, stdout: bytes = b"tried: it\n", stderr: bytes = b"", status: Status = Status.EXIT
) -> Trial:
    """A trial of an attack that should end by `exit` and fail."""
    made = replace(BY_NAME["exits_at_once"], ends=frozenset({"exit"}), verdict="fail")
    result = Result(Outcome(status, 0, stdout, stderr, 0.1), (("C.npy", b"numbers"),))
    return Trial(made, graded, (result,), 0.1)


CANARY = "canary:0123456789abcdef"
FAILED = grade(Verdict.FAIL)


def test_a_contained_attack_gives_no_complaint() -> None:
    """It tried, it was refused, it failed as it should."""
    assert list(complaints(trial(FAILED), CANARY)) == []


@pytest.mark.parametrize(
    ("breach", "complaint"),
    [
        (trial(FAILED, b"tried: x\nreached: the \x1bmoon\n"), "reached: the ?moon"),
        (trial(FAILED, b"tried: x\n0123456789abcdef"), "a canary came back in standard output"),
        (trial(FAILED, stderr=b"0123456789abcdef"), "a canary came back in standard error"),
        (trial(grade(Verdict.FAIL, message="0123456789abcdef")), "a canary came back in the grade"),
        (trial(FAILED, status=Status.TIME), "ended by time, expected exit"),
        (trial(FAILED, b""), "it ended well without having tried anything"),
        (trial(grade(Verdict.PASS)), "its grade is pass, expected fail"),
        (trial(grade(Verdict.FAIL, compiles=False)), "ended by does-not-compile, expected exit"),
        (trial(grade(Verdict.ERROR, error="no engine")), "an error of ours: no engine"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_breach_is_complained_of(breach: Trial, complaint: str) -> None:
    """Each thing that an attack must not get, and each way in which it must not end."""
    assert list(complaints(breach, CANARY)) == [complaint]


def _on_device(
    refused: str, reason: str, ending: str = "exit", stdout: bytes = b"tried: it\n", ran: str = "way"
) -> Trial:
    """A trial of an attack on the device in one way, which is to be refused for a ``reason`` and ended so."""
    made = replace(BY_NAME["device_messages"], verdict="either", device=(("way", reason),))
    case = Case(ran, (), (), Visibility.VISIBLE, "random", 0)
    code, details = FindingCode.HOST_FORGED_MESSAGE, (("problem", refused),)
    forged = Finding(FindingKind.HOST, "it talks to its device by itself", code=code, details=details)
    run = ProgramRun(ending, 0, stdout)
    seen = CaseEvidence(case, findings=(forged,) if refused else (), program=run)
    evidence = Evidence("emulator", Build(ok=True), cases=(seen,))
    graded = replace(grade(Verdict.FAIL), evidence=evidence)
    return replace(trial(graded), attack=made)


@pytest.mark.parametrize(
    ("breach", "complaint"),
    [
        (_on_device("there is no operation 0", "no operation"), ""),
        (_on_device("", ""), ""),
        (_on_device("", "no operation"), "way: ended by exit, expected no operation"),
        (_on_device("a name", "no operation"), "way: ended by a name, expected no operation"),
        (_on_device("a name", ""), "way: ended by a name, expected no error"),
        (_on_device("", "", stdout=b""), "way: it ended well without having tried anything"),
        (_on_device("", "", "signal"), "way: ended by signal, expected exit"),
        (_on_device("", "", ran="other"), "way: it never ran ()"),
    ],
)
def test_what_the_device_should_have_refused_is_complained_of(breach: Trial, complaint: str) -> None:
    """Each way of a file is held against its reason."""
    assert list(complaints(breach, CANARY)) == ([complaint] if complaint else [])


def test_a_canary_in_a_file_is_complained_of() -> None:
    """Results that come back are looked through, too."""
    one = trial(FAILED)
    (result,) = one.results
    leaking = replace(result, files=(("C.npy", b"..0123456789abcdef.."),))
    assert list(complaints(replace(one, results=(leaking,)), CANARY)) == ["a canary came back in C.npy"]


# --- the runner ----------------------------------------------------------------------------------------


def test_attacks_are_left_out_with_a_reason() -> None:
    """Those that a sandbox does not contain are not run in it, and those for a GPU not without one."""
    chosen, left_out = run.select(ATTACKS, [], "bubblewrap", has_gpu=True)
    assert "fork_bomb" not in {each.name for each in chosen}
    assert dict(left_out)["fork_bomb"] == "not contained by bubblewrap: that takes docker"
    chosen, left_out = run.select(ATTACKS, [], "docker", has_gpu=False)
    assert dict(left_out)["gpu_memory"] == "needs a GPU, and none is used here"
    assert len(chosen) + len(left_out) == len(ATTACKS)


def test_an_attack_that_does_not_exist_is_a_mistake_of_the_user() -> None:
    """The message names it."""
    with pytest.raises(UsageError, match="no attack is named fork_bom;"):
        run.select(ATTACKS, ["fork_bom", "fork_bomb"], "docker", has_gpu=False)


def test_a_sandbox_that_shuts_nothing_in_is_never_attacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is refused, because the attacks would succeed."""
    tools = Tools(find_toolchain(), LocalSandbox(), None)
    monkeypatch.setattr("grader.cli.setup.gpus", lambda _: ())
    monkeypatch.setattr("grader.cli.setup.tools", lambda *_, **__: tools)
    with pytest.raises(UsageError, match="shuts nothing in"):
        run.run(Namespace(attacked="auto"))


def test_the_doctor_runs_the_battery_of_its_clone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It lies beside the package; here it is asked to attack what shuts nothing in, and refuses."""
    tools = Tools(find_toolchain(), LocalSandbox(), None)
    monkeypatch.setattr("grader.cli.setup.gpus", lambda _: ())
    monkeypatch.setattr("grader.cli.setup.tools", lambda *_, **__: tools)
    assert main(["doctor", "--attack"]) == 2
    assert "shuts nothing in" in capsys.readouterr().err


def test_where_only_the_package_is_installed_the_doctor_reports_where_attacks_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, and a wrong use; nothing is tried."""
    monkeypatch.setattr("grader.cli.doctor.data_root", lambda: tmp_path)
    assert main(["doctor", "--attack"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "they come with a clone of the repository" in line


def test_a_breach_is_noticed(world: World) -> None:
    """A harmless attack where nothing is shut in: it reads its canaries, and the runner reports it.

    This is the proof that the battery can fail.
    """
    battery = Battery(world, Tools(find_toolchain(), LocalSandbox(), shared_builds()))
    before, breach, left, after, *_ = battery.run([BY_NAME["reads_canaries"]])
    assert [before.contained, left.contained, after.contained] == [True, True, True]
    assert not breach.contained
    secret = world.files["file"]
    assert f"reached: read {secret}" in breach.complaints
    assert "a canary came back in standard output" in breach.complaints


def test_what_came_of_it_can_be_read_by_programs() -> None:
    """As JSON, with what was left out."""
    text = run.report("docker", [Tried("x", "exit", 0.126, ("reached: y",))], [("z", "needs a GPU")])
    assert json.loads(text) == {
        "sandbox": "docker",
        "tried": [
            {
                "name": "x",
                "contained": False,
                "ended": "exit",
                "seconds": 0.13,
                "complaints": ["reached: y"],
            }
        ],
        "left_out": {"z": "needs a GPU"},
    }


# --- for real ------------------------------------------------------------------------------------------


@pytest.mark.docker
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_battery_is_contained_by_bubblewrap(tmp_path: Path) -> None:
    """Every attack that bubblewrap should contain; `make test-docker` tries containers in the same way.

    In a process of its own: it is measured what the grader itself holds when all is over.
    """
    trouble = wrapping.trouble()
    if trouble:
        pytest.skip(f"no bubblewrap here: {trouble}")
    report = tmp_path / "report.json"
    words = ["doctor", "--attack", "--sandbox", "bubblewrap", "--json", str(report)]
    done = subprocess.run(
        [sys.executable, "-m", "grader", *words], capture_output=True, text=True, check=False
    )
    tried = json.loads(report.read_text("utf-8"))["tried"]
    chosen, _ = run.select(ATTACKS, [], "bubblewrap", has_gpu=False)
    assert len(tried) > len(chosen)
    assert [(row["name"], row["complaints"]) for row in tried if not row["contained"]] == []
    assert done.returncode == 0, done.stderr


def test_the_judge_knows_the_words_of_attacks() -> None:
    """`attack.h` prints what the judge looks for."""
    header = (FOLDER / "assignment" / "attack.h").read_text("utf-8").encode()
    assert judge._REACHED in header
    assert judge._TRIED in header
