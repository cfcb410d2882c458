"""Loading an oracle, and what is wrong with what it gives."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import numpy as np
import pytest

from grader.base import staff_code
from grader.base.errors import OurError, UsageError
from grader.base.steps import Step, reporting_to
from grader.grading.oracle import Oracle, OracleStoppedError, draw_inputs, expected_of, load_oracle
from grader.model import Case, Visibility

MATMUL = Path(__file__).parents[2] / "reference" / "matmul"
F32 = np.float32


def test_a_folder_without_an_oracle_is_named(tmp_path: Path) -> None:
    """A missing oracle.py is the assignment's problem, not the student's."""
    with pytest.raises(UsageError, match=r"no oracle\.py"):
        load_oracle(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def inputs(:", "SyntaxError"),
        ("import no_such_module_at_all", "ModuleNotFoundError"),
        ("KINDS = ()\ndef inputs(kind, shape, rng): ...", "expected is missing"),
    ],
)
def test_a_broken_oracle_is_a_usage_error(tmp_path: Path, text: str, message: str) -> None:
    """An oracle that cannot serve is refused with its path and the reason."""
    (tmp_path / "oracle.py").write_text(text)
    with pytest.raises(UsageError, match=message):
        load_oracle(tmp_path)


def test_an_oracle_may_define_dataclasses(tmp_path: Path) -> None:
    """The module is registered while it loads, as ``dataclasses`` needs."""
    (tmp_path / "oracle.py").write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Pair:\n    a: int\nKINDS = ('one',)\ninputs = expected = Pair\n"
    )
    assert isinstance(load_oracle(tmp_path), Oracle)


def test_an_unknown_kind_of_inputs_is_a_usage_error() -> None:
    """The message names the case and the kinds that exist."""
    case = Case("case", (("M", 1), ("K", 1), ("N", 1)), (), Visibility.VISIBLE, "gaussian", 1)
    with pytest.raises(
        UsageError, match=r"case `case`: no inputs of kind `gaussian`; expected one of random, positive"
    ):
        draw_inputs(load_oracle(MATMUL), case)


GOOD = """
KINDS = ("random",)
def inputs(kind, shape, rng):
    return {"x": rng.uniform(size=shape["N"])}
def expected(inputs, shape):
    return {"y": (inputs["x"], inputs["x"])}
"""


@pytest.mark.parametrize(
    ("original", "changed", "message"),
    [
        ('shape["N"]', 'shape["K"]', "oracle.py:4: the oracle's `inputs` failed: KeyError: 'K'"),
        (
            '(inputs["x"], inputs["x"])',
            'inputs["z"]',
            "oracle.py:6: the oracle's `expected` failed: KeyError",
        ),
        ('{"y":', '{"Y":', "oracle.py: `expected` gives no `y`; it gives Y"),
        ('(inputs["x"], inputs["x"])', 'inputs["x"]', "gives no pair of values and bounds for `y`"),
        ('return {"y"', 'return 3 and {} or {"w"', "`expected` gives no `y`; it gives w"),
        ('return {"x"', '{"x"', "oracle.py: `inputs` gives no arrays by name; it gives NoneType"),
        ('return {"y"', '{"y"', "oracle.py: `expected` gives no arrays by name; it gives NoneType"),
        ('(inputs["x"], inputs', '(list(inputs["x"]), inputs', "gives no array of values for `y`, but list"),
        (
            '(inputs["x"], inputs',
            '(inputs["x"][:-1], inputs',
            "gives values of shape (2,) for `y`, and bounds",
        ),
        ('], inputs["x"])', "], None)", "gives no number, and no array of them, as bounds for `y`"),
        ('], inputs["x"])', '], "1e-5")', "gives no number, and no array of them, as bounds for `y`"),
        (
            '(inputs["x"], inputs',
            '(inputs["x"].astype(str), inputs',
            "gives no numbers as values of `y`, but <U",
        ),
        (
            '(inputs["x"], inputs',
            '(inputs["x"] * 1j, inputs',
            "gives no numbers as values of `y`, but complex",
        ),
        ('rng.uniform(size=shape["N"])', "[1.0, 2.0]", "`inputs` gives no array for `x`, but list"),
        (
            'rng.uniform(size=shape["N"])',
            "rng.uniform(size=3).astype(str)",
            "gives no numbers for `x`, but <U",
        ),
        ("kind, shape, rng", "kind, shape", "oracle.py: the oracle's `inputs` failed: TypeError"),
        ('(inputs["x"], inputs', '(inputs["x"] * float("nan"), inputs', "gives NaN as a value of `y`"),
        ('(inputs["x"], inputs', '(inputs["x"], -inputs', "gives a bound for `y` that is negative or NaN"),
        ('(inputs["x"], inputs', '(inputs["x"], float("nan") * inputs', "that is negative or NaN"),
        (
            '(inputs["x"], inputs',
            '(inputs["x"], float("inf") * inputs',
            "gives a bound for `y` that is infinite",
        ),
        (
            '    return {"y"',
            '    raise SystemExit(0)\n    return {"y"',
            "oracle.py:6: the oracle's `expected`",
        ),
    ],
)
def test_a_mistake_in_an_oracle_names_its_file_and_line(
    tmp_path: Path, original: str, changed: str, message: str
) -> None:
    """It is the course's, and neither the student's nor the grader's."""
    (tmp_path / "oracle.py").write_text(GOOD.replace(original, changed))
    oracle = load_oracle(tmp_path)
    with pytest.raises(OurError, match=re.escape(message)):
        expected_of(oracle, oracle.inputs("random", {"N": 3}, np.random.default_rng(1)), {"N": 3}, ["y"])


def test_an_oracle_that_computes_in_place_is_refused_with_its_line(tmp_path: Path) -> None:
    """It would change what the kernel is given, and with it what the case was made for."""
    in_place = GOOD.replace('    return {"y"', '    inputs["x"] -= inputs["x"].max()\n    return {"y"')
    (tmp_path / "oracle.py").write_text(in_place)
    given = {"x": np.ones(3)}
    with pytest.raises(OurError, match=r"oracle\.py:6: the oracle's `expected` failed: .*read-only"):
        expected_of(load_oracle(tmp_path), given, {"N": 3}, ["y"])
    given["x"][0] = 2  # only the oracle's view of it is closed


def test_a_masked_nan_is_no_mistake_of_an_oracle(tmp_path: Path) -> None:
    """Masked elements may be anything, so nothing is wrong with what lies beneath."""
    masked = "import numpy\n" + GOOD.replace(
        '(inputs["x"], ', "(numpy.ma.masked_invalid([numpy.nan, 1, 2]), "
    )
    (tmp_path / "oracle.py").write_text(masked)
    assert expected_of(load_oracle(tmp_path), {"x": np.ones(3)}, {"N": 3}, ["y"])


@pytest.mark.parametrize(
    ("original", "changed", "message"),
    [
        ('("random",)', '("random")', '`KINDS` is a text; expected names in a tuple, like ("random",)'),
        ('("random",)', "3", '`KINDS` is no tuple of names; expected one like ("random",)'),
        ('("random",)', '("random", 3)', '`KINDS` is no tuple of names; expected one like ("random",)'),
        ("def expected(", "expected = 3\ndef expect(", "`expected` is no function"),
        ("def expected(", "orders = 3\ndef expected(", "`orders` is no function"),
    ],
)
def test_a_part_of_another_kind_is_a_usage_error(
    tmp_path: Path, original: str, changed: str, message: str
) -> None:
    """The letters of a text would be taken for kinds of inputs."""
    (tmp_path / "oracle.py").write_text(GOOD.replace(original, changed))
    with pytest.raises(UsageError, match=re.escape(message)):
        load_oracle(tmp_path)


def _slow(function: str, line: str = "while True: pass") -> str:
    """The oracle with a line that does not end at the beginning of a function."""
    return re.sub(rf"(def {function}\(.*\):\n)", rf"\1    {line}\n", GOOD)


@pytest.mark.parametrize("line", ["while True: pass", "import time; time.sleep(1000)"])
@pytest.mark.parametrize(("function", "number"), [("inputs", 4), ("expected", 6)])
def test_an_oracle_that_never_ends_is_reported_with_its_file_function_and_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, number: int, line: str
) -> None:
    """A class would wait for it without a word."""
    monkeypatch.setattr(staff_code, "SECONDS", 0.2)
    (tmp_path / "oracle.py").write_text(_slow(function, line))
    oracle = load_oracle(tmp_path)
    case = Case("wide", (("N", 3),), (), Visibility.VISIBLE, "random", 1)
    message = (
        f"case `wide`: {tmp_path}/oracle.py:{number}: the oracle's `{function}` was stopped after 0 seconds"
    )
    with pytest.raises(OracleStoppedError, match=re.escape(message)):
        expected_of(oracle, draw_inputs(oracle, case), {"N": 3}, ["y"], case.id)


def test_an_oracle_that_catches_every_exception_is_stopped_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exception that stops it is no `Exception`."""
    monkeypatch.setattr(staff_code, "SECONDS", 0.2)
    catching = "while True:\n        try: [0] * 9\n        except Exception: pass"
    (tmp_path / "oracle.py").write_text(_slow("expected", catching))
    with pytest.raises(OracleStoppedError, match="`expected` was stopped"):
        expected_of(load_oracle(tmp_path), {"x": np.ones(3)}, {"N": 3}, ["y"])


def test_an_oracle_that_takes_long_is_reported_to_whoever_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And goes on: it is stopped much later."""
    monkeypatch.setattr(staff_code, "SAID_AFTER", 0.05)
    monkeypatch.setattr(staff_code, "SECONDS", 60.0)
    (tmp_path / "oracle.py").write_text(_slow("expected", "import time; time.sleep(0.2)"))
    steps: list[Step] = []
    with reporting_to(steps.append):
        expected_of(load_oracle(tmp_path), {"x": np.ones(3)}, {"N": 3}, ["y"])
    assert steps == [Step("staff-code", code=f"the oracle's `expected` ({tmp_path}/oracle.py)")]


def test_an_oracle_leaves_the_alarm_of_who_calls_it_alone(tmp_path: Path) -> None:
    """On Gradescope grading is ended by one, at a moment that may come while an oracle works, or after it."""
    (tmp_path / "oracle.py").write_text(GOOD)
    before = signal.signal(signal.SIGALRM, signal.SIG_IGN)
    timer = signal.setitimer(signal.ITIMER_REAL, 300)
    try:
        expected_of(load_oracle(tmp_path), {"x": np.ones(3)}, {"N": 3}, ["y"])
        assert 200 < signal.getitimer(signal.ITIMER_REAL)[0] <= 300
        assert signal.getsignal(signal.SIGALRM) is signal.SIG_IGN
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, before)


def test_an_oracle_that_never_ends_loading_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that cannot be loaded."""
    monkeypatch.setattr(staff_code, "SECONDS", 0.2)
    (tmp_path / "oracle.py").write_text("x = 1\nwhile True: pass\n")
    with pytest.raises(UsageError, match=r"oracle\.py:2: loading the file was stopped after 0 seconds"):
        load_oracle(tmp_path)


def test_what_an_oracle_prints_is_not_among_what_the_grader_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """That may be JSON."""
    text = 'print("loaded")\n' + _slow("inputs", 'print("drawn")').replace(
        '    return {"y', '    print("computed")\n    return {"y'
    )
    (tmp_path / "oracle.py").write_text(
        text + '\ndef work(shape):\n    print("worked")\n    return {"flops": 1}\n'
    )
    oracle = load_oracle(tmp_path)
    expected_of(oracle, oracle.inputs("random", {"N": 3}, np.random.default_rng(1)), {"N": 3}, ["y"])
    assert oracle.work is not None
    oracle.work({"N": 3})
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "loaded\ndrawn\ncomputed\nworked\n"
