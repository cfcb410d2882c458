"""Assignments of kind `program`: what they become, and what a run must bring back."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import OurError, SpecError, UsageError
from grader.grading.assignment import expand_cases, load_assignment, recall, reference_folder, wanted_files
from grader.model import CasePlan, ExpectedNumber, ProgramInterface, Visibility
from tests.documents import blocks

if TYPE_CHECKING:
    from tests.grading.assignment.conftest import Write

SOUND = (Path(__file__).parent / "greet.yaml").read_text()


@pytest.fixture
def greet(write: Write) -> Write:
    """Write a program's assignment, with the header that it ships."""

    def folder(text: str | bytes = SOUND) -> Path:
        made = write(text)
        (made / "support.h").write_text("// ✓\n")
        return made

    return folder


def changed(old: str, new: str) -> str:
    """The sound assignment with one change."""
    assert old in SOUND
    return SOUND.replace(old, new, 1)


def test_a_program_has_an_interface_of_its_own(greet: Write) -> None:
    """Limits and headers, and neither a kernel nor a timing nor, where no array is compared, a reference."""
    assignment = load_assignment(greet())
    assert assignment.interface == ProgramInterface((("support.h", "// ✓\n"),), 5.0, 256 * 2**20)
    assert (assignment.reference, assignment.timing) == ("", None)
    with pytest.raises(OurError, match="asks for a program, not for a kernel"):
        _ = assignment.kernel
    with pytest.raises(UsageError, match="`greet` names no reference"):
        reference_folder(assignment)


def test_limits_have_defaults(greet: Write) -> None:
    """Ten seconds and a gibibyte."""
    assignment = load_assignment(greet(changed("  seconds: 5\n  memory: 256\n", "")))
    assert assignment.interface == ProgramInterface((("support.h", "// ✓\n"),), 10.0, 2**30)


def test_arguments_are_the_texts_that_were_written(greet: Write) -> None:
    """A number in YAML becomes its digits, `yes` no truth value, and a quoted nothing stays an argument."""
    assignment = load_assignment(greet())
    assert assignment.cases == (
        CasePlan("plain", (), (), Visibility.VISIBLE, ""),
        CasePlan(
            "sums",
            (),
            ("more",),
            Visibility.HIDDEN,
            "",
            arguments=("3", "-x", "0x10", "", "yes"),
            stdin="1 2 3\n",
        ),
    )
    case = expand_cases(assignment, 7)[1]
    assert (case.arguments, case.stdin, case.shape) == (("3", "-x", "0x10", "", "yes"), "1 2 3\n", ())


def test_the_options_of_checks_are_in_their_items(greet: Write) -> None:
    """Numbers are exact, and a text is as it was written."""
    _, ends, fails, lines, matching, exact, reads = load_assignment(greet()).rubric
    assert (ends.options, ends.cases, ends.partial) == ((("status", 0),), ("more",), "per-case")
    assert fails.options == (("status", 3),)
    assert lines.options == (("of", "stdout"), ("lines", "Hello,\n  world\n"))
    assert matching.options == (("of", "stderr"), ("matches", r"^ok\b"))
    assert exact.options == (("of", "out.txt"), ("exact", "a\n"))
    assert reads.partial == "per-number"
    assert reads.options == (
        ("of", "stdout"),
        (
            "numbers",
            (
                ExpectedNumber("naive", "naive:", Fraction(8), Fraction(0)),
                ExpectedNumber("share", "naive:", Fraction(-25), Fraction(1, 1000), relative=True, nth=2),
                ExpectedNumber("savings", "Savings: ", Fraction(2), Fraction(1, 200)),
            ),
        ),
    )
    assert lines.title == "lines: what it prints"


def test_an_array_names_what_the_oracle_is_asked(greet: Write) -> None:
    """With a reference that has an oracle it is accepted."""
    item = (
        "{id: c, points: 1, check: array, of: C.npy, output: C, dtype: float32, shape: {N: 3}, inputs: ones}"
    )
    folder = greet(changed("title:", "reference: scaling\ntitle:") + f"  - {item}\n")
    (folder.parent.parent / "reference" / "scaling" / "oracle.py").write_text("")
    assignment = load_assignment(folder)
    assert assignment.reference == "scaling"
    assert assignment.rubric[-1].options == (
        ("of", "C.npy"),
        ("output", "C"),
        ("dtype", "float32"),
        ("shape", (("N", 3),)),
        ("inputs", "ones"),
    )


def test_wanted_files_are_those_that_items_look_at(greet: Write) -> None:
    """Each once, in the order of the rubric; streams are no files."""
    more = "  - {id: again, points: 1, check: text, of: out.txt, matches: a}\n"
    more += "  - {id: log, points: 1, check: text, of: log, matches: a}\n"
    assert wanted_files(load_assignment(greet(SOUND + more))) == ("out.txt", "log")


def test_a_program_is_remembered_without_a_reference(greet: Write, tmp_path: Path) -> None:
    """A sound assignment comes from the cache until one of its files changes."""
    folder, cache = greet(), tmp_path / "cache"
    first = load_assignment(folder, cache)
    assert recall(folder, cache) == first
    (folder / "support.h").write_text("// changed\n")
    assert recall(folder, cache) is None


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("arguments: [3,", f"arguments: [{', '.join('1' * 61)}, 3,", "expected at most 64 entries"),
        ('"-x"', '"a\\0b"', "expected an argument of at most 4096 bytes without NUL"),
        ('"-x"', f'"{"é" * 2049}"', "expected an argument of at most 4096 bytes without NUL"),
        ('"-x"', '"\\uD800"', "expected characters that UTF-8 has"),
        ('"-x"', "~", "expected an argument, found nothing; put such a text in quotes"),
        ('"1 2 3\\n"', f'"{"1" * 65537}"', "expected at most 64 KiB of standard input"),
    ],
    ids=["65 arguments", "NUL", "4098 bytes", "surrogate", "null", "64 KiB and a byte"],
)
def test_what_a_run_is_given_has_limits(greet: Write, old: str, new: str, problem: str) -> None:
    """The longest that is allowed is, and one more is refused with its place."""
    with pytest.raises(SpecError, match=r"assignment.yaml:10:\d+: cases\[1\]") as caught:
        load_assignment(greet(changed(old, new)))
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("arguments: [3,", f"arguments: [{', '.join('1' * 59)}, 3,"),
        ('"-x"', f'"{"é" * 2048}"'),
        ('"1 2 3\\n"', f'"{"1" * 65536}"'),
    ],
    ids=["64 arguments", "4096 bytes", "64 KiB"],
)
def test_what_a_run_is_given_may_be_as_much_as_the_limits_say(greet: Write, old: str, new: str) -> None:
    """The limits themselves are allowed."""
    assert load_assignment(greet(changed(old, new))).id == "greet"


@pytest.mark.parametrize(
    "pattern",
    [r"(a+)+$", r"(?i)speed:\s+\d+(\.\d+)?x", r"\pL+", r"^$"],
    ids=["nested", "flag", "class", "empty"],
)
def test_patterns_of_re2_are_accepted(greet: Write, pattern: str) -> None:
    """A pattern that would take a backtracking engine for ever is fine here."""
    assignment = load_assignment(greet(changed(r"'^ok\b'", f"'{pattern}'")))
    assert dict(assignment.rubric[4].options)["matches"] == pattern


@pytest.mark.parametrize("pattern", [r"(a", r"a\1", r"(?=a)b", "a" * 1001])
def test_other_patterns_are_refused_with_their_place(greet: Write, pattern: str) -> None:
    """Backreferences and look-around are not in RE2's syntax: they have no linear time."""
    with pytest.raises(SpecError, match=r"assignment.yaml:21:\d+: rubric\[4\].matches: expected a regular"):
        load_assignment(greet(changed(r"'^ok\b'", f"'{pattern}'")))


def test_the_example_of_the_format_is_an_assignment(write: Write) -> None:
    """The example that staff copy from there loads."""
    examples = blocks("docs/format.md", "yaml")
    example = next(block for block in examples if "  kind: program\n" in block)
    folder = write("id: greet\ntitle: Greet\nreference: scaling\n" + example)
    (folder.parent.parent / "reference" / "scaling" / "oracle.py").write_text("")
    assert [item.check for item in load_assignment(folder).rubric] == ["exit", *["text"] * 3, "array"]


KERNEL_OUTPUT = """
id: multiply
title: Multiply
reference: matmul
submission: {kind: program}
cases: [{id: plain}]
rubric:
  - id: product
    points: 20
    check: kernel-output
    kernel: multiply
    arguments: [A, B, C]
    output: C
    dtype: float32
    shape: {M: 20, K: 24, N: 18}
    inputs: random
"""


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("[A, B, C]", "[A, B, A, C]", "arguments[2]: `A` is there already"),
        ("output: C", "output: D", "output: expected one of `A`, `B`, `C`"),
        ("[A, B, C]", "[]", "arguments"),
        ("reference: matmul\n", "", "expected a key `reference`"),
    ],
)
def test_what_a_kernel_is_given_is_named_once(write: Write, old: str, new: str, problem: str) -> None:
    """The output is one of the arguments, and there is an oracle to say what it should be."""
    assert old in KERNEL_OUTPUT
    with pytest.raises(SpecError) as raised:
        load_assignment(write(KERNEL_OUTPUT.replace(old, new)))
    assert problem in str(raised.value)
