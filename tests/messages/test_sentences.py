"""Sentences about findings, from their codes and data alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.messages import faults, sentence, worded
from grader.messages.memory import SENTENCES
from grader.model import Access, Finding, FindingCode, FindingKind


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
def test_how_far_an_array_is_missed_is_said_in_elements(index: int, missed: str) -> None:
    """After the end, before the start, or with its last bytes only."""
    finding = stray(FindingCode.BEYOND_ARRAY, address=f"A[{index}]", index=index, elements=9)
    assert sentence(finding) == f"reads A[{index}], {missed}: A has 9 elements"


def test_the_extents_of_an_array_are_said_where_they_are_known() -> None:
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
    assert sentence(finding) == "writes A[2][0], 1 past its end, which is B[0]: A has 2 x 2 elements"


VERBS = [("read", "reads"), ("write", "writes"), ("update", "updates"), ("", "uses")]


@pytest.mark.parametrize(("verb", "word"), VERBS)
def test_the_verb_is_that_of_the_access(verb: str, word: str) -> None:
    """Where nobody says which, a thread uses memory."""
    assert sentence(stray(FindingCode.NULL_POINTER, verb, "0x8")).startswith(f"{word} address 0x8, which")


@pytest.mark.parametrize("code", SENTENCES)
def test_every_place_of_a_sentence_is_filled(code: FindingCode) -> None:
    """With all the data that codes have between them."""
    finding = stray(code, index=9, elements=9, other="B[0]", byte=64, bytes=48)
    text = sentence(replace(finding, details=(*finding.details, ("lines", (3, 5)))))
    assert text
    assert "{" not in text
    assert "on lines 3 and 5" in text or "{lines}" not in SENTENCES[code]


def test_a_finding_that_has_a_sentence_keeps_it() -> None:
    """What others have said is not said again."""
    assert worded(Finding(FindingKind.FAULT, "stops", code=FindingCode.NULL_POINTER)).message == "stops"


def test_a_race_is_said_with_both_threads_and_what_is_missing() -> None:
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
    assert sentence(race) == (
        "thread (2, 0) of block (1, 0) overwrites C[4] on line 9, which thread (3, 1) of block (0, 0) reads "
        "on line 7: blocks run in any order, and nothing orders these two"
    )


@pytest.mark.parametrize("code", faults.SENTENCES)
def test_every_stop_has_a_sentence(code: FindingCode) -> None:
    """With all the data that codes have between them; no place is left empty."""
    details = (("assertion", "i < n"), ("function", "f"), ("address", "0x8"), ("bytes", 2048), ("most", 1024))
    text = sentence(Finding(FindingKind.FAULT, "", code=code, details=details))
    assert text
    assert "{" not in text


def test_a_recursion_is_told_by_the_function_where_it_has_a_name() -> None:
    """A call through a pointer has none."""
    named = Finding(FindingKind.FAULT, "", code=FindingCode.STACK_OVERFLOW, details=(("function", "f"),))
    assert sentence(named).startswith("calls `f` from within itself")
    assert sentence(replace(named, details=())).startswith("calls a function from within itself")
