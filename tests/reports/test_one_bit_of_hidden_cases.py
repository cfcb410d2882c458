"""Whatever hidden cases are and do, a student's reports tell one bit of them for each item.

Two worlds have the same visible cases, and hidden ones that have nothing in common but which items they fail:
other shapes, inputs, tags, numbers, findings, lines, texts, ends and times. Everything that leaves for the
student has to be the same to the last byte.
"""

# ruff: noqa: S311 - what is drawn here is no secret
from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from grader.kinds import pipeline
from grader.model import (
    Advice,
    AdviceKind,
    Assignment,
    Build,
    Case,
    CaseEvidence,
    Clause,
    Comparison,
    Counters,
    Evidence,
    Finding,
    FindingKind,
    Grade,
    InstructionUse,
    KernelCounters,
    KernelInterface,
    ProgramInterface,
    ProgramRun,
    Resources,
    RubricItem,
    Severity,
    Structure,
    Submission,
    Visibility,
    WrongElement,
)
from grader.reports.audience import student_view
from tests.reports.leaving import leaving

if TYPE_CHECKING:
    from collections.abc import Sequence

SOURCE = [f"int line_{number};" for number in range(1, 41)]


def item(name: str, check: str, options: dict[str, Any] | None = None, **fields: Any) -> RubricItem:  # noqa: ANN401
    """A rubric item that is worth ten points."""
    return RubricItem(name, name, Fraction(10), check, options=tuple((options or {}).items()), **fields)


AT_MOST = {"metric": "global_load_bytes", "baseline": "naive", "at_most": Fraction(1, 2)}
STEPS = {
    "metric": "global_load_bytes",
    "baseline": "naive",
    "steps": tuple((Fraction(10 - n, 10), Fraction(n, 10)) for n in range(1, 11)),
}
USES = ("barriers", "atomics", "shuffles")
KERNEL_ITEMS = (
    item("compiles", "compile"),
    item("right", "output"),
    item("edges", "output", partial="per-case", needs=("compiles",)),
    item("odd", "output", cases=("odd",), partial="per-case"),
    item("barriers", "races", partial="per-case"),
    item("memory", "memory"),
    item("bad", "memory", penalty=True),
    item("few", "races", extra=True, message_fail="Mind the barriers."),
    item("after", "output", needs=("barriers",)),
    item("reuse", "traffic", AT_MOST),
    item("band", "traffic", STEPS),
    item(
        "built", "structure", {"require": (("uses_barriers", 1), ("uses_atomics", 1), ("uses_shuffles", 1))}
    ),
    item("secret", "output", visibility=Visibility.HIDDEN),
)
BITS = ("output", "races", "memory", "traffic", "structure")
"""The bits that hidden cases of a kernel may fail, one by one; traffic in both of its items."""

KINDS = {
    "races": (FindingKind.RACE, FindingKind.BARRIER_DIVERGENCE),
    "memory": (FindingKind.OUT_OF_BOUNDS, FindingKind.MISALIGNED, FindingKind.UNINITIALISED),
}


SEVERITIES = (Severity.ERROR, Severity.WARNING)
"""The severities that fail an item of races; warnings of memory cost nothing."""


def finding(kind: FindingKind, draw: Random, case: str) -> Finding:
    """A finding that tells as much as it can of what was drawn."""
    line, other = draw.randrange(1, 41), draw.randrange(1, 41)
    block, thread = (draw.randrange(90), 0, 0), (draw.randrange(90), 1, 0)
    return Finding(
        kind,
        draw.choice(["", f"something is wrong with {line}"]),
        hazard=draw.choice(["RAW", "WAR", "WAW"]) if kind is FindingKind.RACE else "",
        file="ada.cu",
        line=line,
        other_line=other,
        case=case,
        block=block,
        thread=thread,
        address=draw.choice(["A[3]", "C[7]", f"own{line}[2]", "shared", "local", "0x1234"]),
        count=draw.randrange(1, 9999),
        severity=Severity.ERROR if kind in KINDS["memory"] else draw.choice(SEVERITIES),
    )


def wrong(draw: Random) -> Comparison:
    """An output that is wrong in a way of its own."""
    first = WrongElement((draw.randrange(99), draw.randrange(99)), draw.random(), draw.random(), 1e-6)
    explained = draw.choice([("", "", ""), ("transposed", "it is transposed", "transpose it")])
    name, explanation, hint = explained
    total = draw.randrange(50, 5000)
    return Comparison(
        "C", total, draw.randrange(1, 50), 0, draw.random(), 1e-6, first, (), explanation, name, hint
    )


def hidden_kernel_case(number: int, fails: frozenset[str], draw: Random) -> CaseEvidence:
    """A hidden case that fails these bits, and nothing else."""
    name = f"case-{draw.randrange(10**6)}-{number}"
    shape = tuple((size, draw.randrange(1, 500)) for size in "MKN")
    tags = ("odd",) if number % 2 else ()
    inputs = draw.choice(["random", "spikes", "whole"])
    case = Case(name, shape, tags, Visibility.HIDDEN, inputs, draw.randrange(10**9))
    findings = [finding(draw.choice(KINDS[bit]), draw, name) for bit in sorted(fails & KINDS.keys())]
    findings += [
        replace(finding(draw.choice(KINDS["memory"]), draw, name), severity=Severity.WARNING)
        for _ in range(draw.randrange(3))
    ]
    findings *= draw.randrange(1, 4)
    draw.shuffle(findings)
    right = Comparison("C", draw.randrange(1, 9999), 0, 0, draw.random() * 1e-7, 1e-6)
    baseline = draw.randrange(1, 100) * 10_000
    share = draw.choice([95, 98, 100, 130]) if "traffic" in fails else draw.choice([1, 2, 5])
    return CaseEvidence(
        case,
        (wrong(draw) if "output" in fails else right,),
        tuple(findings),
        counters=Counters(global_load_bytes=baseline * share // 100, flops=draw.randrange(10**6)),
        baselines=(("naive", Counters(global_load_bytes=baseline)),),
        seconds=draw.random() * 100,
    )


def visible_kernel_case(name: str, *, fails: bool = False) -> CaseEvidence:
    """A visible case; one that ``fails`` is wrong, and has a race."""
    draw = Random(5)
    case = Case(name, (("M", 8), ("K", 8), ("N", 8)), ("odd",), Visibility.VISIBLE, "random", 1)
    comparison = wrong(draw) if fails else Comparison("C", 64, 0, 0, 0.0, 1e-6)
    findings = (finding(FindingKind.RACE, draw, name),) if fails else ()
    baselines = (("naive", Counters(global_load_bytes=1000)),)
    counters = Counters(global_load_bytes=10)
    return CaseEvidence(case, (comparison,), findings, counters=counters, baselines=baselines, seconds=0.5)


def spread(fails: frozenset[str], cases: int, draw: Random) -> list[frozenset[str]]:
    """Draw which hidden cases fail which bits: at least one odd and one even one, and not all of them."""
    spread_over: list[set[str]] = [set() for _ in range(cases)]
    for bit in sorted(fails):
        for parity in (0, 1):  # the item of odd cases has the same bit
            among = [number for number in range(cases) if number % 2 == parity]
            for number in draw.sample(among, draw.randrange(1, max(2, len(among)))):
                spread_over[number].add(bit)
    # Traffic counts right cases alone: one of them has to tell.
    if "traffic" in fails:
        for number in range(cases):
            spread_over[number].add("traffic")
    return [frozenset(one) for one in spread_over]


def kernel_world(fails: frozenset[str], visible: Sequence[CaseEvidence], world: int, cases: int = 6) -> Grade:
    """The grade of a kernel in a world of its own, in which hidden cases fail just these bits."""
    draw = Random(1000 * world + 7)
    hidden = [
        hidden_kernel_case(number, failing, draw)
        for number, failing in enumerate(spread(fails - {"structure"}, cases, draw))
    ]
    mixed = [*visible, *hidden]
    if world % 2:  # hidden ones may stand between visible ones, which keep their order
        mixed = [*hidden[:2], *visible, *hidden[2:]]
    seen = InstructionUse(2, (3, 4), 2)
    never = InstructionUse(2, (3, 4), 0)
    unmet = draw.sample(USES, draw.randrange(1, 4)) if "structure" in fails else []
    lines = tuple(sorted(draw.sample(range(1, 41), 2)))
    executed: dict[str, Any] = {use: never if use in unmet else replace(seen, lines=lines) for use in USES}
    visibly: dict[str, Any] = dict.fromkeys(USES, seen)
    advice = (Advice(AdviceKind.REDUNDANT_LOADS, "load it once", "ada.cu", 4, "A", 1.0),)
    return judged(
        KernelInterface("k", (), (), (), ()),
        KERNEL_ITEMS,
        Evidence(
            "emulator",
            Build(ok=True, toolkit="nvcc 13", resources=Resources()),
            tuple(mixed),
            advice=advice,
            structures=(("k", Structure(**executed)),),
            visible_structures=(("k", Structure(**visibly)),),
        ),
        world,
    )


def judged(
    interface: KernelInterface | ProgramInterface,
    items: tuple[RubricItem, ...],
    evidence: Evidence,
    world: int,
) -> Grade:
    """The grade of the evidence, without what differs from run to run anyway."""
    assignment = Assignment("a", "An assignment", "r", interface, (), items, None, Path(), "digest")
    plan = pipeline.Plan(assignment, 424_243 + world, tuple(case.case for case in evidence.cases), ())
    grade = pipeline.judge(plan, Submission("ada", "ada.cu", b"", ""), evidence)
    return replace(grade, seconds=())


VISIBLE = {
    "right": (visible_kernel_case("small"), visible_kernel_case("large")),
    "partly wrong": (visible_kernel_case("small"), visible_kernel_case("large", fails=True)),
    "wrong": (visible_kernel_case("small", fails=True),),
    "none": (),
}


def subsets(bits: Sequence[str]) -> list[frozenset[str]]:
    """The sets that may fail together: nothing, each bit, any two, and all of them."""
    few = (frozenset(chosen) for number in range(3) for chosen in combinations(bits, number))
    return [*few, frozenset(bits)]


def bits_of(grade: Grade) -> list[tuple[str, Fraction]]:
    """The verdict and the points of each item, which a student may know."""
    return [(item.result.verdict, item.points) for item in grade.items]


def must_look_alike(worlds: Sequence[Grade], *, whole: bool) -> None:
    """Compare what a student may see, and with ``whole`` every file and format that is made of it, too."""
    shown = (leaving(one, SOURCE) if whole else {"view": repr(student_view(one))} for one in worlds)
    first, *others = shown
    for other, grade in zip(others, worlds[1:], strict=True):
        assert bits_of(grade) == bits_of(worlds[0])
        for name, content in first.items():
            assert content == other[name], name


@pytest.mark.parametrize("visible", VISIBLE)
def test_hidden_cases_of_a_kernel_tell_one_bit_an_item(visible: str) -> None:
    """Whichever of them fail, how, where and how often."""
    for fails in subsets(BITS):
        worlds = [kernel_world(fails, VISIBLE[visible], world) for world in range(3)]
        must_look_alike(worlds, whole=fails in (frozenset({"output"}), frozenset({"races", "traffic"})))


@pytest.mark.parametrize("visible", VISIBLE)
def test_items_without_partial_credit_do_not_tell_how_many_cases_are_hidden(visible: str) -> None:
    """All or nothing looks the same with four as with eleven of them."""
    for fails in subsets(("output", "races", "memory")):
        shown = []
        for world, cases in ((1, 4), (2, 11)):
            grade = kernel_world(fails, VISIBLE[visible], world, cases)
            kept = [n for n, one in enumerate(grade.items) if not one.result.item.partial]
            view = student_view(grade)
            shown.append([view.items[n].result for n in kept])
        assert shown[0] == shown[1], fails


def test_the_bits_are_seen() -> None:
    """The same comparison finds a difference wherever an item's bit is another."""
    for bit in BITS:
        passing, failing = (kernel_world(f, VISIBLE["right"], 1) for f in (frozenset(), frozenset({bit})))
        assert student_view(passing) != student_view(failing)
    files = leaving(failing, SOURCE)
    for name, content in leaving(passing, SOURCE).items():
        if name != "may be scored":
            assert content != files[name], name


PROGRAM_ITEMS = (
    item("compiles", "compile"),
    item("ends", "exit", {"status": 0}, partial="per-case"),
    item("says", "text", {"of": "stdout", "lines": "right"}),
    item("shares", "text", {"of": "stdout", "lines": "right"}, partial="per-case"),
    item("array", "array", {"of": "C.npy", "output": "C", "dtype": "float32"}, partial="per-case"),
    item("host", "host", {"severity": "info"}),
    item("barriers", "races"),
    item("memory", "memory"),
    item("streams", "streams", {"least": 2}),
    item("reuse", "traffic", {**AT_MOST, "kernel": "k"}),
)
PROGRAM_BITS = ("exit", "text", "array", "host", "races", "memory", "streams")


def program_case(
    name: str, fails: frozenset[str], draw: Random, visibility: Visibility = Visibility.HIDDEN
) -> CaseEvidence:
    """A case of a program that fails these bits; one that does not end fails nearly all."""
    case = Case(name, (), (), visibility, "", draw.randrange(99), arguments=(str(draw.randrange(99)),))
    findings = [finding(draw.choice(KINDS[bit]), draw, name) for bit in sorted(fails & KINDS.keys())]
    if "host" in fails:
        findings.append(finding(FindingKind.HOST, draw, name))
    words = f"wrong {draw.random()}".encode() if "text" in fails else b"right"
    ending, code = "exit", draw.randrange(1, 200) if "exit" in fails else 0
    run = ProgramRun(ending, code, words, f"line {draw.random()}".encode(), (), draw.random())
    counters = Counters(global_load_bytes=10)
    return CaseEvidence(
        case,
        (wrong(draw) if "array" in fails else Comparison("C", draw.randrange(1, 99), 0, 0, 0.0, 1e-6),),
        tuple(findings),
        counters=counters,
        baselines=(("naive:k", Counters(global_load_bytes=1000)),),
        program=run,
        kernels=(KernelCounters("k", 1, counters),),
        launches=1,
        streams=draw.choice([0, 1]) if "streams" in fails else draw.randrange(2, 9),
        staged_streams=draw.choice([0, 3]) if "streams" in fails else 0,
    )


def program_world(fails: frozenset[str], visible: Sequence[CaseEvidence], world: int) -> Grade:
    """The grade of a program in a world of its own."""
    draw = Random(1000 * world + 9)
    hidden = [
        program_case(f"case-{draw.randrange(10**6)}-{number}", failing, draw)
        for number, failing in enumerate(spread(fails, 4, draw))
    ]
    build = Build(ok=True, toolkit="nvcc 13", program=b"x", calls_device=True)
    interface = ProgramInterface()
    return judged(interface, PROGRAM_ITEMS, Evidence("emulator", build, (*visible, *hidden)), world)


@pytest.mark.parametrize("failing", [frozenset(), frozenset({"exit", "text"})])
def test_hidden_cases_of_a_program_tell_one_bit_an_item(failing: frozenset[str]) -> None:
    """Neither a status, nor a text, nor which mistake of the host, nor how many streams."""
    visible = (
        program_case("small", frozenset(), Random(1), Visibility.VISIBLE),
        program_case("large", failing, Random(2), Visibility.VISIBLE),
    )
    for fails in subsets(PROGRAM_BITS):
        worlds = [program_world(fails, visible, world) for world in range(3)]
        must_look_alike(worlds, whole=fails == frozenset({"text", "host"}))


ENDS: dict[str, dict[str, Any]] = {
    "too much work": {"completed": False, "too_much_work": Clause("too-much-work"), "comparisons": ()},
    "more work": {
        "completed": False,
        "too_much_work": Clause("no-more-time", (("less", "1"), ("count", 3), ("all", "9"))),
        "comparisons": (),
    },
}


def test_why_a_hidden_case_was_not_judged_is_the_same_for_all() -> None:
    """Its progress, and the reason why it came no further, would reveal something of it."""
    shown = []
    for world, end in enumerate(ENDS.values()):
        draw = Random(world)
        case = replace(hidden_kernel_case(1, frozenset(), draw), **end)
        items = tuple(one for one in KERNEL_ITEMS if one.check in ("compile", "output", "races", "memory"))
        evidence = Evidence("emulator", Build(ok=True, toolkit="n"), (*VISIBLE["right"], case))
        shown.append(leaving(judged(KernelInterface("k", (), (), (), ()), items, evidence, world), SOURCE))
    assert shown[0] == shown[1]


def test_an_error_of_ours_in_a_hidden_case_has_one_text() -> None:
    """Its own names what the kernel chose by the data."""
    shown = []
    for world in range(2):
        draw = Random(world)
        case = replace(hidden_kernel_case(1, frozenset(), draw), error=f"no instruction {draw.random()}")
        evidence = Evidence("emulator", Build(ok=True, toolkit="n"), (*VISIBLE["partly wrong"], case))
        interface = KernelInterface("k", (), (), (), ())
        shown.append(leaving(judged(interface, KERNEL_ITEMS[:-1], evidence, world), SOURCE))
    assert shown[0] == shown[1]


def test_whether_a_further_hidden_case_was_given_up_makes_no_difference_to_an_item_that_fails() -> None:
    """An item that fails reports that hidden cases do not pass; a speedup without a GPU changes nothing."""
    shown = []
    items = (item("right", "output"), item("speed", "speedup", {"baseline": "naive", "steps": ()}))
    for world, given_up in enumerate((None, Clause("too-much-work"))):
        draw = Random(1)
        failing = hidden_kernel_case(1, frozenset({"output"}), draw)
        other = hidden_kernel_case(2, frozenset(), draw)
        if given_up:
            other = replace(other, too_much_work=given_up, completed=False, comparisons=())
        evidence = Evidence("emulator", Build(ok=True, toolkit="n"), (*VISIBLE["right"], failing, other))
        shown.append(leaving(judged(KernelInterface("k", (), (), (), ()), items, evidence, world), SOURCE))
    assert shown[0] == shown[1]
