"""The page of a submission: states, a start, remarks and pictures; and its size."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256

import lxml.html
import pytest

from grader.model import (
    Cause,
    CheckResult,
    Finding,
    FindingCode,
    FindingKind,
    ItemGrade,
    Severity,
    Verdict,
    Visibility,
)
from grader.model.mistakes import bundled_texts
from grader.reports import html, pictures, trace_files
from grader.reports.pages import CHAPTERS, asset, prose
from grader.reports.wording import state_of
from tests.reports.grade_with_pictures import grade_with_pictures, wrong_case
from tests.reports.pages import content, words_of
from tests.reports.sample_grades import (
    ITEMS,
    SOURCE,
    compile_error,
    full_marks,
    missing_barrier,
    with_staff_texts,
)
from tests.reports.test_watching import racy

STATES = {
    "passed": {"verdict": Verdict.PASS, "fraction": Fraction(1)},
    "partly": {"verdict": Verdict.FAIL, "fraction": Fraction(1, 3)},
    "failed": {"verdict": Verdict.FAIL, "fraction": Fraction(0)},
    "not judged yet": {"verdict": Verdict.FAIL, "fraction": Fraction(0), "judged": False},
    "needs a GPU": {"verdict": Verdict.SKIP, "fraction": Fraction(0), "needs_gpu": True},
    "not judged here": {"verdict": Verdict.SKIP, "fraction": Fraction(0)},
    "error of ours": {"verdict": Verdict.ERROR, "fraction": Fraction(0)},
}


def _elements(page: str, path: str) -> list[str]:
    root = lxml.html.document_fromstring(content(page))
    return [" ".join(element.text_content().split()) for element in root.xpath(path)]


def test_each_state_has_its_own_mark_and_word() -> None:
    """Seven outcomes, seven marks, seven words; only what failed has a cross."""
    states = {}
    for word, fields in STATES.items():
        result = CheckResult(item=ITEMS[0], message="", **fields)  # type: ignore[arg-type]
        states[word] = state_of(ItemGrade(result, Fraction(0), Fraction(10)))
    assert {word: state.word for word, state in states.items()} == {word: word for word in STATES}
    assert len({state.mark for state in states.values()}) == len({s.name for s in states.values()}) == 7
    assert [word for word, state in states.items() if state.mark == "✗"] == ["failed"]


def test_the_page_starts_with_the_first_item_that_fails() -> None:
    """Without a known cause it has message, line, picture and hint, once; nothing where all is right."""
    page = html.render(missing_barrier(), source_lines=SOURCE)
    (start,) = _elements(page, "//section[@id='start']")
    for words in ("Start here", "> 9 |", "thread (0, 3)", "Try: Add __syncthreads() between lines 13 and 14"):
        assert words in start
    assert words_of(page).count("Add __syncthreads() between lines 13 and 14") == 1
    assert not _elements(html.render(full_marks()), "//section[@id='start']")


def test_what_waits_for_another_item_is_reported_in_one_line() -> None:
    """It has a row with the reason, and no section of its own."""
    page = html.render(compile_error(), source_lines=SOURCE)
    assert len(_elements(page, "//section[@class='item']")) == 1
    rows = _elements(page, "//ul[@class='items']/li")
    assert rows[1] == "○not judged yet Right for whole tilesNot judged until “Compiles” passes – of 25"


def test_a_line_is_remarked_where_a_finding_names_it() -> None:
    """The remark leads to its finding, and that leads to the line."""
    page = html.render(with_staff_texts(missing_barrier()), source_lines=SOURCE)
    root = lxml.html.document_fromstring(page)
    marked = [element.get("id") for element in root.xpath("//div[@class='marked']")]
    assert marked == ["line-9", "line-10", "line-13"]
    targets = {str(link.get("href")) for link in root.xpath("//p[starts-with(@class, 'remark')]/a")}
    assert targets == {"#start", "#finding-3"}
    assert root.xpath("//div[@id='finding-3']//a[@href='#line-10']")


def test_an_output_is_drawn_with_the_blocks_over_it() -> None:
    """A path for each sort of wrong, a border between blocks, and the numbers of some elements."""
    heat = wrong_case().comparisons[0].heat
    assert heat is not None
    drawn = pictures.heat(Finding(FindingKind.WRONG_OUTPUT, case="mp3"), heat, "C")
    assert [kind for kind, _ in drawn.legend] == ["right", "unwritten", "nan", "more"]
    assert 'class="borders" d="M16 0v55M32 0v55M0 16h43M0 32h43M0 48h43"' in drawn.drawing
    assert "<title>C[0][32]: 533, expected 33 ± 0.5</title>" in drawn.drawing
    assert drawn.caption.startswith("How far `C` is off in case `mp3`; each square is an element")


def test_a_picture_without_a_pattern_is_left_out() -> None:
    """One colour everywhere shows less than the sentence beside it."""
    heat = wrong_case().comparisons[0].heat
    assert heat is not None
    assert pictures.says_something(heat)
    assert not pictures.says_something(replace(heat, rows=("333", "33 ")))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (FindingCode.RACE_IN_BLOCK, "no `__syncthreads()` between them"),
        (FindingCode.RACE_BETWEEN_BLOCKS, "nothing between them that orders blocks"),
        (FindingCode.UNSPECIFIED, "nothing between them that orders them"),
    ],
)
def test_a_race_is_two_accesses_and_what_is_missing(code: FindingCode, words: str) -> None:
    """The earlier one first, each with its thread, verb and line; without lines there is nothing to draw."""
    finding = replace(missing_barrier().items[3].result.findings[0], code=code)
    race = pictures.race(finding)
    assert race is not None
    assert (race.threads, race.verbs, race.lines) == (
        ("thread (0, 3)", "thread (5, 3)"),
        ("reads", "writes"),
        (13, 9),
    )
    assert race.missing == words
    assert pictures.race(replace(finding, other_line=None)) is None


def test_the_smallest_run_stands_side_by_side_as_numbers() -> None:
    """Inputs, what is expected and what came out."""
    tables = _elements(
        html.render(grade_with_pictures(), source_lines=SOURCE), "//div[@class='arrays']//table"
    )
    assert tables == [
        "A (input) 1 × 2 1.5-2",
        "B (input) 2 × 1 3 4",
        "C, expected 1 × 1 -3.5",
        "C, got 1 × 1 4.5",
    ]


def test_traffic_and_speed_are_bars_beside_their_numbers() -> None:
    """Yours, the naive kernel's, what is asked; speedups with their intervals, occupancy, and limits."""
    rows = _elements(html.render(grade_with_pictures()), "//table[@class='bars']//tr")
    assert rows[:3] == ["this submission64,704", "naive kernel908,160", "asked: at most 5 %45,408"]
    assert rows[3] == "this submission1.130× (1.127 to 1.133)"
    assert any(row.startswith("occupancy") for row in rows)
    assert rows[-4:-2] == ["this submission1.5× (1.3 to 1.7)", "shared-memory bandwidth62 %"]


def test_pictures_of_a_hidden_case_or_item_are_never_drawn() -> None:
    """Neither its heat map, nor its numbers, nor what an item compared whose details are hidden."""
    grade = grade_with_pictures()
    cases = tuple(
        replace(case, case=replace(case.case, visibility=Visibility.HIDDEN))
        if case.case.id == "mp3"
        else case
        for case in grade.cases
    )
    items = list(grade.items)
    hidden = replace(items[1].result.item, visibility=Visibility.HIDDEN)
    items[1] = replace(items[1], result=replace(items[1].result, item=hidden))
    page = content(html.render(replace(grade, cases=cases, items=tuple(items)), source_lines=SOURCE))
    assert "heat-map" not in page
    assert 'class="example"' not in page
    assert "64,704" not in page
    assert "heat-map" in content(html.render(grade, source_lines=SOURCE))


def largest_trace() -> bytes:
    """A trace of the race of the sample grade that is nearly too long to be embedded."""
    lines = tuple(sha256(bytes(n)).hexdigest() * 3 for n in range(3_600))
    findings = tuple(replace(one, line=1, other_line=None) for one in racy().trace.findings)
    scene = replace(racy(), source=lines, trace=replace(racy().trace, findings=findings))
    kept = trace_files.packed(scene)
    assert len(kept) > 0.9 * trace_files.MOST_PACKED
    return kept


def test_a_page_stays_small_whatever_was_handed_in() -> None:
    """Ten megabytes of source with five thousand findings in it are shown around some of them."""
    source = [f"int a{number}; // {'x' * 90}" for number in range(100_000)]
    findings = tuple(
        Finding(
            FindingKind.OUT_OF_BOUNDS,
            f"thread {n} reads too far",
            file="grace.cu",
            line=20 * n + 1,
            case="mp3",
        )
        for n in range(5_000)
    )
    grade = grade_with_pictures()
    items = list(grade.items)
    items[2] = replace(items[2], result=replace(items[2].result, findings=findings))
    page = html.render(with_staff_texts(replace(grade, items=tuple(items))), source_lines=source)
    assert len(page.encode()) < 500_000
    trace = largest_trace()
    watched = html.render(
        with_staff_texts(replace(grade, items=tuple(items))), source_lines=source, trace=trace
    )
    assert len(page.encode()) + len(trace) < len(watched.encode()) < 1_000_000
    assert "lines left out" in page
    assert "int a20;" in page
    one_line = html.render(grade, source_lines=["x" * 10_000_000])
    assert len(one_line.encode()) < 500_000


def test_a_warning_is_no_cross_in_the_margin() -> None:
    """A warning and an error look different there, too."""
    grade = missing_barrier()
    items = list(grade.items)
    findings = tuple(replace(f, severity=Severity.WARNING) for f in items[3].result.findings)
    items[3] = replace(items[3], result=replace(items[3].result, findings=findings))
    root = lxml.html.document_fromstring(
        html.render(with_staff_texts(replace(grade, items=tuple(items))), source_lines=SOURCE)
    )
    assert {mark.text for mark in root.xpath("//div[@class='marked']/i")} == {"!"}


def test_code_and_chapters_stand_out_in_a_sentence() -> None:
    """Backticks are code, a chapter is a link to it, and everything else is text."""
    assert prose("`a<b` is <b>") == "<code>a&lt;b</code> is &lt;b&gt;"
    assert prose("a lone ` tick") == "a lone ` tick"
    assert 'index.html#shared-memory">Shared Memory</a>” in the guide' in prose(
        "“Shared Memory” in the guide"
    )
    assert prose("“Elsewhere”") == "“Elsewhere”"


def test_every_chapter_that_a_concept_names_is_a_link() -> None:
    """A new chapter needs its title in the list."""
    concepts = " ".join(bundled_texts().concepts.values())
    named = {part.split("”")[0] for part in concepts.split("“")[1:]}
    assert named == CHAPTERS


def test_an_access_out_of_bounds_comes_before_the_race_that_it_makes() -> None:
    """Both are at the line of the cause: a missing barrier would be the wrong thing to look for."""
    grade = missing_barrier()
    beyond = Finding(FindingKind.OUT_OF_BOUNDS, "writes past the end of `C`", file="grace.cu", line=9)
    items = list(grade.items)
    items[2] = replace(
        items[2],
        result=CheckResult(ITEMS[2], Verdict.FAIL, Fraction(0), "no case is right", findings=(beyond,)),
    )
    cause = Cause("store-out-of-bounds", "a thread writes outside `C`", "guard the store", "barriers", line=9)
    page = html.render(with_staff_texts(replace(grade, items=tuple(items), cause=cause)), source_lines=SOURCE)
    (start,) = _elements(page, "//section[@id='start']")
    assert "A thread writes outside C (line 9)" in start
    assert "> 9 |" in start
    assert "nothing orders these two accesses" not in start


def _with_findings(*findings: Finding) -> str:
    """The page of the grade with a missing barrier, which has these findings in its place."""
    grade = missing_barrier()
    items = list(grade.items)
    items[3] = replace(items[3], result=replace(items[3].result, findings=findings))
    return html.render(with_staff_texts(replace(grade, items=tuple(items), cause=None)), source_lines=SOURCE)


def test_lines_are_quoted_without_the_indentation_that_they_share() -> None:
    """A phone has room for forty letters; what is deeper than another line stays so."""
    page = _with_findings(Finding(FindingKind.RACE, "so", line=9, file="grace.cu", address="A_tile[3][5]"))
    root = lxml.html.document_fromstring(page)
    (quoted,) = root.xpath("//pre[starts-with(@class, 'excerpt')]")
    rows = quoted.text_content().split("\n")
    assert rows[0].startswith("   8 | int a =")
    assert rows[1].startswith(">  9 | A_tile[")
    assert rows[2] == "     | ^^^^^^"


def test_the_same_lines_are_quoted_once() -> None:
    """Another finding at the same place has its own message and leads to the file."""
    findings = [
        Finding(FindingKind.COMPILE, f'identifier "{name}" is undefined', file="grace.cu", line=9)
        for name in ("a", "b")
    ]
    page = _with_findings(*findings)
    assert len(_elements(page, "//pre[starts-with(@class, 'excerpt')]")) == 1
    assert _elements(page, "//p[starts-with(@class, 'remark')]") == [
        'identifier "a" is undefined',
        'identifier "b" is undefined',
    ]


def test_a_loop_without_an_end_is_remarked_once_at_its_line() -> None:
    """The number of steps in another case is no further remark."""
    findings = [
        Finding(FindingKind.TIMEOUT, f"was stopped after {steps} steps", file="grace.cu", line=7)
        for steps in (100, 200)
    ]
    assert _elements(_with_findings(*findings), "//p[starts-with(@class, 'remark')]") == [
        "was stopped after 100 steps"
    ]


def test_names_in_a_remark_are_code() -> None:
    """Though it is a link, in which no other can be."""
    page = _with_findings(Finding(FindingKind.RACE, "`C` “Shared Memory”", file="grace.cu", line=7))
    assert '<a href="#start"><code>C</code> “Shared Memory”</a>' in page


def test_why_items_wait_is_reported_once_for_those_that_follow() -> None:
    """Each has its mark and word all the same."""
    rows = _elements(html.render(compile_error(), source_lines=SOURCE), "//ul[@class='items']/li")
    waiting = [row for row in rows if "not judged yet" in row]
    assert len(waiting) > 2
    assert ["Not judged until" in row for row in waiting] == [True, *[False] * (len(waiting) - 1)]


def test_how_a_heat_map_is_read_is_explained_at_the_first() -> None:
    """Further ones have their own caption only."""
    grade = grade_with_pictures()
    second = replace(wrong_case(), case=replace(wrong_case().case, id="wide"))
    assert grade.evidence is not None
    items = list(grade.items)
    wrong = next(one for one in items[2].result.findings if one.kind is FindingKind.WRONG_OUTPUT)
    findings = (wrong, replace(wrong, case="wide", message="too", address="C[0][33]"))
    items[2] = replace(items[2], result=replace(items[2].result, findings=findings))
    cases = (*grade.evidence.cases, second)
    evidence = replace(grade.evidence, cases=cases)
    page = html.render(with_staff_texts(replace(grade, items=tuple(items), evidence=evidence)))
    assert len(_elements(page, "//figure[@class='heat-map']")) == 2
    assert page.count("use the arrow keys") == 1


def test_that_all_cases_fail_is_reported_without_their_names() -> None:
    """Unless there are two; students read the names of the visible ones that fail, and of no others."""
    grade = grade_with_pictures()
    verdicts = tuple((case.case.id, Verdict.FAIL) for case in grade.cases)
    items = list(grade.items)
    items[2] = replace(items[2], result=replace(items[2].result, case_verdicts=verdicts))
    changed = replace(grade, items=tuple(items))
    assert len(verdicts) > 2
    assert f"Cases: all {len(verdicts)}" in words_of(html.render(changed, audience="staff"))
    assert "dot-product" not in words_of(html.render(changed))
    assert f"Cases: all {len(verdicts)}" not in words_of(html.render(changed))


def test_a_self_check_notes_that_grading_looks_at_more() -> None:
    """The note comes if all is right in a self-check, as in the terminal; a grade does not have it."""
    passes = full_marks()
    assert "Grading uses more shapes" in words_of(html.render(passes, preliminary=True))
    assert "Grading uses more shapes" not in words_of(html.render(passes))
    assert "Grading uses more shapes" not in words_of(html.render(missing_barrier(), preliminary=True))


def _luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb`` (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["raised", "fail-soft"])
@pytest.mark.parametrize("kind", ["comment", "string", "word"])
def test_what_stands_apart_in_the_file_can_be_read(kind: str, ground: str, scheme: int) -> None:
    """In a line with a remark, too: a browser does not say these colours, so the style sheet is asked."""
    name = dict(re.findall(r"::highlight\((\w+)\) \{ color: var\(--([\w-]+)\); \}", asset("submission.css")))[
        kind
    ]
    colours = dict(re.findall(r"--([\w-]+): (#\w{6});", asset("style.css").split("@media", 2)[scheme]))
    low, high = sorted((_luminance(colours[name]), _luminance(colours[ground])))
    assert (high + 0.05) / (low + 0.05) >= 4.5
