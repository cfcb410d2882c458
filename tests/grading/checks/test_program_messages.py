"""The messages of the checks of programs, word for word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.model import Comparison, Finding, FindingKind, WrongElement
from tests.grading.checks.judging import judge
from tests.grading.checks.runs import evidence, item, number, ran, result_text

if TYPE_CHECKING:
    from grader.model import CaseEvidence, RubricItem
    from tests.conftest import Golden

    Scenes = dict[str, tuple[RubricItem, tuple[CaseEvidence, ...]]]

EXPECTED = "one\ntwo\nthree\nfour\nfive\n"
READS = (
    number("naive reads", "Global reads (naive):", 8),
    number("naive reads in all", "Global reads (naive):", 128, nth=2),
    number("savings", "Savings:", 2, within=0.005),
)


def lines(*, partial: str = "", of: str = "stdout") -> RubricItem:
    """An item that expects five lines."""
    return item("text", partial=partial, of=of, lines=EXPECTED)


def exact() -> RubricItem:
    """An item that expects two lines to the letter."""
    return item("text", of="stdout", exact="one\ntwo\n")


def reads(*, partial: str = "per-number") -> RubricItem:
    """An item that expects three numbers."""
    return item("text", partial=partial, of="stdout", numbers=READS)


def matches(pattern: str, of: str = "stdout") -> RubricItem:
    """An item that expects a pattern."""
    return item("text", of=of, matches=pattern)


LINES: Scenes = {
    "all right": (lines(), (ran(EXPECTED),)),
    "blanks at ends, line ends of Windows and empty lines at the end": (
        lines(),
        (ran(EXPECTED.replace("\n", " \t\r\n") + "\n \n"),),
    ),
    "another word": (lines(), (ran(EXPECTED.replace("three", "thrice")),)),
    "upper and lower case": (lines(), (ran(EXPECTED.replace("three", "Three")),)),
    "other blanks": (lines(), (ran(EXPECTED.replace("three", "  three")),)),
    "a tab": (lines(), (ran(EXPECTED.replace("three", "\tthree")),)),
    "a line missing": (lines(), (ran(EXPECTED.replace("three\n", "")),)),
    "two lines missing at the end": (lines(), (ran("one\ntwo\nthree\n"),)),
    "a line too many": (lines(), (ran(EXPECTED.replace("three\n", "three\nthree and a half\n")),)),
    "two lines too many at the end": (lines(), (ran(EXPECTED + "six\nseven\n"),)),
    "an empty line too many": (lines(), (ran(EXPECTED.replace("three\n", "\nthree\n")),)),
    "nothing in common": (lines(), (ran("a\nb\nc\nd\ne\nf\ng\nh\n"),)),
    "nothing at all": (lines(), (ran(""),)),
    "a flood": (lines(), (ran("x" * 2**20),)),
    "a flood of lines": (lines(), (ran("\n" * 2**16 + "x\n" * 2**16),)),
    "a difference far to the right": (
        item("text", of="stdout", lines="x" * 200 + "yes" + "z" * 200),
        (ran("x" * 200 + "no" + "z" * 200),),
    ),
    "escapes and bytes that are no text": (
        lines(),
        (ran(b"\x1b[31mone\x1b[0m\n\x1b]0;owned\x07two\n\xff\xfethree\x00\nfour\rfive\n\xe2\x80\xaefive\n"),),
    ),
    "to standard error": (lines(of="stderr"), (ran(EXPECTED, stderr=b"one\n"),)),
    "to a file": (lines(of="out.txt"), (ran(files=(("out.txt", b"one\ntwo\n"),)),)),
    "no such file": (lines(of="out.txt"), (ran(EXPECTED),)),
    "an empty file": (lines(of="out.txt"), (ran(files=(("out.txt", b""),)),)),
    "one of three cases": (
        lines(partial="per-case"),
        (
            ran(EXPECTED),
            ran("one\n", "short", arguments=("3", "a b"), stdin="1 2\n3"),
            ran("secret\n", "hidden-one", hidden=True, arguments=("secret",)),
        ),
    ),
    "hidden cases only": (lines(), (ran("secret\n", "h", hidden=True), ran(EXPECTED, "g", hidden=True))),
    "killed after all was printed": (lines(), (ran(EXPECTED, ending="signal", returncode=-11),)),
}
EXACT: Scenes = {
    "all right": (exact(), (ran("one\ntwo\n"),)),
    "line ends of Windows": (exact(), (ran("one\r\ntwo\r\n"),)),
    "a blank at the end of a line": (exact(), (ran("one \ntwo\n"),)),
    "no line end at the end": (exact(), (ran("one\ntwo"),)),
    "an empty line at the end": (exact(), (ran("one\ntwo\n\n"),)),
    "another word": (exact(), (ran("one\nthree\n"),)),
    "nothing is expected": (item("text", of="stderr", exact=""), (ran(stderr=b"warning\n"),)),
    "nothing is printed": (exact(), (ran(""),)),
    "a hidden blank": (exact(), (ran("one\ntwo", hidden=True),)),
}
NUMBERS: Scenes = {
    "all right": (reads(), (ran("Global reads (naive): 8 per element, 128 total\nSavings: 2.00x\n"),)),
    "near enough": (reads(), (ran("Global reads (naive):8.0 1.28e2 Savings:\n1.995000\n"),)),
    "all but one": (reads(), (ran("Global reads (naive): 8 per element, 512 total\nSavings: 2.00x\n"),)),
    "not near enough": (reads(), (ran("Global reads (naive): 8 128\nSavings: 2.0051\n"),)),
    "a thousands separator": (reads(), (ran("Global reads (naive): 8 0,128\nSavings: 2\n"),)),
    "nan and infinity": (reads(), (ran("Global reads (naive): nan per element, inf\nSavings: -inf"),)),
    "words that are not there": (reads(), (ran("global reads (naive): 8\n"),)),
    "no number after them": (reads(), (ran("Savings:\n\nGlobal reads (naive): 8\n"),)),
    "none of it counts without its share": (reads(partial=""), (ran("Global reads (naive): 8 128"),)),
    "one number": (item("text", of="stdout", numbers=READS[2:]), (ran("Savings: 8.00x"),)),
    "an absurd number": (
        item("text", of="stdout", numbers=READS[2:]),
        (ran("Savings: 1e999999999"), ran("Savings: " + "9" * 5000, "long")),
    ),
    "in a file": (
        item("text", of="out.txt", numbers=READS[2:]),
        (ran(files=(("out.txt", b"Savings: 8"),)), ran("", "other", files=(("out.txt", b""),))),
    ),
    "hidden": (
        reads(),
        (ran("Global reads (naive): 77 per element, 128 total", "h", hidden=True, arguments=("77",)),),
    ),
    "many": (
        item("text", of="stderr", numbers=tuple(number(f"n{i}", f"n{i}:", i) for i in range(12))),
        (ran(stderr=b" ".join(b"n%d: 99" % i for i in range(12))),),
    ),
}
MATCHES: Scenes = {
    "all right": (matches(r"^Result: \d+$"), (ran("a\nResult: 12\r\nb"),)),
    "not there": (matches(r"^Result: \d+$"), (ran("a\n Result: 12\nb"),)),
    "not in standard error": (matches("ok", "stderr"), (ran("ok"),)),
    "not in a hidden case": (matches("secret"), (ran("no", hidden=True),)),
}
EXIT: Scenes = {
    "all right": (item("exit", status=0), (ran(), ran(name="b", returncode=0))),
    "another status": (item("exit", status=0), (ran(returncode=3),)),
    "the status that is asked": (item("exit", status=3), (ran(returncode=3),)),
    "well, where it should fail": (item("exit", status=3), (ran(),)),
    "with last words": (
        item("exit", status=0),
        (ran(returncode=1, stderr=b"1\n2\n3\n4\n5\n\x1b[31m6\xff\n7 " + b"x" * 200 + b"\n\n"),),
    ),
    **{
        name: (item("exit", status=0), (ran(ending="signal", returncode=-number),))
        for name, number in (
            ("SIGSEGV", 11),
            ("SIGABRT", 6),
            ("SIGFPE", 8),
            ("SIGILL", 4),
            ("SIGKILL", 9),
            ("SIGUSR1", 10),
            ("a signal without a name", 99),
        )
    },
    **{
        name: (item("exit", status=0), (ran(ending="signal", returncode=-6, stderr=words),))
        for name, words in (
            (
                "an exception",
                (
                    b"a\nterminate called after throwing an instance of 'std::out_of_range'\n"
                    b"  what():  no \x1b[31mway\n"
                ),
            ),
            ("an exception without words", b"terminate called after throwing an instance of 'int'\n"),
        )
    },
    "time": (item("exit", status=0), (ran(ending="time", returncode=-9, seconds=10.02),)),
    "memory": (item("exit", status=0), (ran(ending="memory", returncode=-9),)),
    "output": (item("exit", status=0), (ran("x", ending="output-limit", returncode=-9),)),
    "hidden": (
        item("exit", partial="per-case", status=0),
        (
            ran(),
            ran(name="h", hidden=True, returncode=1, stderr=b"secret"),
            ran(name="g", hidden=True, ending="time", returncode=-9, seconds=5.0, stderr=b"secret"),
        ),
    ),
}
WRONG = Comparison("C", 1156, 132, 0, 66.0, 0.0, WrongElement((32, 0), 68.0, 2.0, 0.0))
EXPLAINED = Comparison(
    "C",
    4,
    4,
    0,
    9.0,
    0.5,
    WrongElement((0, 0), 68.0, 2.0, 0.5),
    explanation="`C` lacks a tile",
    hint="round up",
)
NO_FILE = Finding(FindingKind.WRONG_OUTPUT, "the program left no file `C.npy`", address="C")
ARRAY: Scenes = {
    "all right": (item("array", output="C"), (ran(comparisons=(Comparison("C", 4, 0, 0, 0.0, 0.0),)),)),
    "wrong": (item("array", output="C"), (ran(comparisons=(WRONG,)),)),
    "another array is wrong": (
        item("array", output="D"),
        (ran(comparisons=(WRONG, Comparison("D", 4, 0, 0, 0.0, 0.0))),),
    ),
    "explained": (item("array", output="C"), (ran(comparisons=(EXPLAINED,)),)),
    "no file": (item("array", output="C"), (ran(findings=(NO_FILE,)),)),
    "hidden": (
        item("array", output="C"),
        (
            ran(name="h", hidden=True, comparisons=(EXPLAINED,)),
            ran(name="g", hidden=True, findings=(NO_FILE,)),
            ran(name="f", hidden=True, comparisons=(WRONG,)),
        ),
    ),
    "not compared": (item("array", output="C"), (ran(),)),
    "stopped": (
        item("array", output="C"),
        (ran(ending="time", returncode=-9, seconds=20.0, findings=(Finding(FindingKind.TIMEOUT, "late"),)),),
    ),
}
ALL = {"lines": LINES, "exact": EXACT, "numbers": NUMBERS, "matches": MATCHES, "exit": EXIT, "array": ARRAY}


@pytest.mark.parametrize("kind", ALL)
def test_every_outcome_has_these_words(kind: str, golden: Golden) -> None:
    """Verdict, share of the points, message and findings of each way to be right or wrong."""
    pages = [
        f"## {name}\n{result_text(judge(asked, evidence(*cases)))}"
        for name, (asked, cases) in ALL[kind].items()
    ]
    golden(f"checks/{kind}.txt", "\n".join(pages))


@pytest.mark.parametrize("kind", ALL)
def test_no_message_can_act_or_is_long(kind: str) -> None:
    """Whatever a program prints, the message has visible characters and line ends, a screenful."""
    for asked, cases in ALL[kind].values():
        shown = result_text(judge(asked, evidence(*cases)))
        assert shown.replace("\n", "").isprintable()
        assert len(shown) < 4000
        assert max(map(len, shown.split("\n"))) < 600


@pytest.mark.parametrize("kind", ALL)
def test_nothing_that_a_hidden_case_printed_is_reported(kind: str) -> None:
    """Neither what was expected, nor what came, nor what it was given."""
    for asked, cases in ALL[kind].values():
        if all(case.case.visibility == "hidden" for case in cases):
            shown = result_text(judge(asked, evidence(*cases)))
            assert not any(secret in shown for secret in ("secret", "77", "68", "arguments"))
