"""Sentences about findings, from their codes and data alone."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import grader
from grader.base.text import placeholders
from grader.grading.checks.program_cases import EXPLAINED_SIGNALS
from grader.kinds.attempts.other_inputs import OutputSource
from grader.model import (
    CHANGES,
    LIMITS,
    PROBLEMS,
    Access,
    Clause,
    Finding,
    FindingCode,
    FindingKind,
    Verdict,
    Visibility,
)
from grader.model.messages import remarked, worded
from grader.model.messages.sentences import (
    CLAUSE_TABLES,
    CLAUSES,
    ENGLISH,
    TEMPLATES,
    TEXT_TABLES,
    TEXTS,
    Sentences,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

WITHOUT = {FindingCode.UNSPECIFIED, FindingCode.UNSET_VARIABLE_REPORTED}
"""Codes whose findings have no sentence of ours: a kind alone, and the message of a compiler."""


def stray(code: FindingCode, verb: str = "read", address: str = "A[9]", **details: int | str) -> Finding:
    """An access out of bounds without a sentence."""
    access = Access(verb, "global", "A", (9,), 4)
    return Finding(
        FindingKind.OUT_OF_BOUNDS,
        "",
        address=address,
        code=code,
        access=access,
        details=tuple(details.items()),
    )


@pytest.mark.parametrize(
    ("index", "missed"), [(9, "1 past its end"), (-2, "2 before its start"), (8, "partly past its end")]
)
def test_how_far_an_array_is_missed_is_given_in_elements(index: int, missed: str) -> None:
    """After the end, before the start, or with its last bytes only."""
    finding = stray(FindingCode.BEYOND_ARRAY, address=f"A[{index}]", index=index, elements=9)
    assert ENGLISH.sentence(finding) == f"reads A[{index}], {missed}: A has 9 elements"


def test_the_extents_of_an_array_are_given_where_they_are_known() -> None:
    """And the array that begins where this one ends."""
    access, extents = Access("write", "shared", "A", (4,), 4), (("extents", (2, 2)), ("other", "B[0]"))
    finding = Finding(
        FindingKind.OUT_OF_BOUNDS,
        "",
        address="A[2][0]",
        code=FindingCode.INTO_OTHER_ARRAY,
        access=access,
        details=(("index", 4), ("elements", 4), *extents),
    )
    assert ENGLISH.sentence(finding) == "writes A[2][0], 1 past its end, which is B[0]: A has 2 x 2 elements"


VERBS = [("read", "reads"), ("write", "writes"), ("update", "updates"), ("", "uses")]


@pytest.mark.parametrize(("verb", "word"), VERBS)
def test_the_verb_is_that_of_the_access(verb: str, word: str) -> None:
    """The verb is "uses" where the access is of no known kind."""
    assert ENGLISH.sentence(stray(FindingCode.NULL_POINTER, verb, "0x8")).startswith(
        f"{word} address 0x8, which"
    )


def test_every_code_has_a_sentence() -> None:
    """Codes whose findings are worded elsewhere are excepted."""
    assert set(TEMPLATES) == set(FindingCode) - WITHOUT


def test_every_code_is_in_the_description_of_grades() -> None:
    """Whoever reads `grade.json` finds each of them there."""
    text = (Path(__file__).parents[3] / "docs/grade-json.md").read_text()
    assert [code for code in TEMPLATES if f"`{code}`" not in text] == []


@pytest.mark.parametrize("code", TEMPLATES)
def test_every_field_of_a_sentence_is_filled(code: FindingCode) -> None:
    """By the finding itself, or by a detail of that name."""
    details = tuple((name, 7) for name in sorted(placeholders(TEMPLATES[code])))
    text = ENGLISH.sentence(Finding(FindingKind.OUT_OF_BOUNDS, code=code, details=details))
    assert text
    assert "{" not in text


def names_handed_to(function: str) -> Iterator[str]:
    """The first arguments that the source gives a function, as far as they are written there as such."""
    sources = (file.read_text() for file in Path(grader.__file__).parent.rglob("*.py"))
    for source in (source for source in sources if function in source):  # others need no second to be parsed
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == function and node.args:
                choices = [node.args[0]]
                if isinstance(node.args[0], ast.IfExp):
                    choices = [node.args[0].body, node.args[0].orelse]
                yield from (str(name.value) for name in choices if isinstance(name, ast.Constant))


def test_every_clause_that_the_source_names_has_a_text() -> None:
    """A name that is written wrong would be an empty part of a sentence."""
    names = set(names_handed_to("Clause"))
    of_pages = {name for name in names if name.startswith(OF_PAGES)}
    assert len(names - of_pages) > 40
    assert names - of_pages <= set(CLAUSES)
    assert of_pages <= set(TEXTS)


OF_PAGES = ("slip-", "step-", "trace-note-")
"""Clauses that are whole texts of a page, and no part of a sentence about a finding."""

FAMILIES = {
    f"{name}{ending}"
    for names, endings in (
        (("item-passes", "item-fails", "item-is-skipped", "item-is-in-error"), ("-hidden",)),
        (("severity",), ("-warning", "-info")),
        (("as-before", "element-added", "element-unwritten"), ("-call",)),
        (("speed",), ("-at", "-on", "-at-on")),
        (tuple(Verdict), ("",)),
        (tuple(OutputSource), ("",)),
        (("number", "no-words"), ("-stdout", "-stderr", "-file")),
        (("at-most", "more-than", "at-least", "less-than"), ("-asked",)),
        (tuple(map(str.lower, EXPLAINED_SIGNALS)), ("",)),
        (("trace-up-to", "trace"), ("-exit", "-stopped", "-limit")),
        (("trace",), ("-atomic",)),
        (("slip-only",), ("-registers", "-shared", "-threads")),
        (("class-state",), ("-excused", "-full", "-look", "-nothing", "-partly")),
        (("class",), tuple(f"-{visibility.value}" for visibility in Visibility)),
        (("kind",), tuple(f"-{kind}" for kind in FindingKind)),
        (("limit",), tuple(f"-{limit}" for limit in LIMITS)),
        (("change",), tuple(f"-{change}" for change in CHANGES)),
        (("problem", "hint"), tuple(f"-{problem}" for problem in PROBLEMS)),
        (("estimate-heading",), ("-at",)),
        (
            ("undefined-by-race", "undefined-by-unset", "undefined-by-barrier", "undefined-by-bounds"),
            ("-somewhere",),
        ),
    )
    for name in names
    for ending in endings
}
"""Texts whose names are put together."""


def texts_of_templates() -> Iterator[str]:
    """The names that the templates of pages ask for."""
    for file in (Path(grader.__file__).parent / "reports/templates").iterdir():
        yield from re.findall(r'\bwords\("([^"]+)"[,)]', file.read_text())


def texts_of_scripts() -> Iterator[str]:
    """The names that the trace page's script asks for; every string in it may be one."""
    for file in (Path(grader.__file__).parent / "reports/trace_page").glob("*.js"):
        yield from (f"trace-{name}" for name in re.findall(r'"([\w-]+)"', file.read_text()))


def texts_of_steps() -> Iterator[str]:
    """The steps and slips of worked answers; every string in a file that makes some may be the end of one."""
    for file in (Path(grader.__file__).parent / "simulation/analysis").glob("*.py"):
        source = file.read_text()
        for maker in ("step", "slip"):
            if f"{maker}(" in source:
                strings = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
                yield from (f"{maker}-{node.value}" for node in strings if isinstance(node.value, str))


def texts_asked_for() -> Iterator[str]:
    """The names of texts that the source asks for; every name that is written there as a string."""
    for file in Path(grader.__file__).parent.rglob("*.py"):
        if file.parent.name == "messages":
            continue
        source = file.read_text()
        if any(f"{maker}(" in source for maker in ("text_of", "templates_of", "of_grade", "Clause")):
            strings = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
            yield from (node.value for node in strings if isinstance(node.value, str))
    yield from texts_of_templates()
    yield from texts_of_scripts()
    yield from texts_of_steps()
    yield from FAMILIES


def test_every_text_of_a_check_is_asked_for() -> None:
    """A text that is never shown would be translated for nothing."""
    named = {name.removesuffix("-one") for name in TEXTS} - {"times", "times-after-question"}
    assert named <= set(texts_asked_for())


def test_no_text_stands_in_two_tables() -> None:
    """A name stands for one text only."""
    assert len(TEXTS) == sum(map(len, TEXT_TABLES.values()))
    assert len(CLAUSES) == sum(map(len, CLAUSE_TABLES))


def test_every_text_that_a_check_asks_for_is_there() -> None:
    """A name that is written wrong would stop the judgement."""
    names = set(names_handed_to("text_of"))
    assert len(names) > 40
    assert names <= set(TEXTS)
    assert set(OutputSource) - {OutputSource.COMPUTES, OutputSource.UNKNOWN} <= set(TEXTS)
    assert OutputSource.UNKNOWN in CLAUSES
    asked = set(texts_of_templates())
    assert {"start", "language"} <= asked <= set(TEXTS)


def test_a_clause_about_one_is_in_the_singular() -> None:
    """The singular is used where the ``count`` is 1 and there is such a form."""
    assert Sentences().clause(Clause("in-some-loop", (("count", 1),))) == "1 thread is in a loop"
    assert Sentences().clause(Clause("in-some-loop", (("count", 31),))) == "31 threads are in a loop"


def test_a_remark_stands_around_the_sentence_and_stays_there() -> None:
    """It is data as the rest: the sentence can be made again."""
    finding = remarked(worded(stray(FindingCode.NULL_POINTER, address="0x8")), Clause("nothing-depends"))
    assert finding.message.endswith("a null pointer; nothing depends on it")
    assert ENGLISH.sentence(finding) == finding.message
    hidden = remarked(Finding(FindingKind.COMPILE, "says the compiler"), Clause("kernel-alone"))
    assert hidden.message == "not judged, for only the kernel is asked for: says the compiler"


def test_a_finding_that_has_a_sentence_keeps_it() -> None:
    """A message that is there already is not replaced."""
    assert worded(Finding(FindingKind.FAULT, "stops", code=FindingCode.NULL_POINTER)).message == "stops"


def test_a_race_is_reported_with_both_threads_and_what_is_missing() -> None:
    """Of two blocks, each thread has its own."""
    race = Finding(
        FindingKind.RACE,
        "",
        hazard="WAR",
        line=9,
        other_line=7,
        block=(1, 0, 0),
        thread=(2, 0, 0),
        other_block=(0, 0, 0),
        other_thread=(3, 1, 0),
        address="C[4]",
        code=FindingCode.RACE_BETWEEN_BLOCKS,
    )
    assert ENGLISH.sentence(race) == (
        "thread (2, 0) of block (1, 0) overwrites C[4] on line 9, which thread (3, 1) of block (0, 0) reads "
        "on line 7: blocks run in any order, and nothing orders these two"
    )


def test_a_recursion_is_reported_with_the_function_where_it_has_a_name() -> None:
    """A call through a pointer has none."""
    named = Finding(FindingKind.FAULT, "", code=FindingCode.STACK_OVERFLOW, details=(("function", "f"),))
    assert ENGLISH.sentence(named).startswith("calls `f` from within itself")
    assert ENGLISH.sentence(replace(named, details=())).startswith("calls a function from within itself")
