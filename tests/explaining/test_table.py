"""A named mistake is one record and one text: neither is without the other."""

from __future__ import annotations

import pytest

from grader.explaining import table
from grader.explaining.mistake import MISTAKES, TESTS, Mistake, Rank, register
from grader.explaining.mistakes_of_findings import OF_FINDINGS
from grader.model.mistakes import bundled_texts
from tests import references

OF_SEVERAL = bundled_texts()
HINTS_OF_FINDINGS = [one.id for one in OF_FINDINGS]


def test_every_text_about_outputs_has_a_record() -> None:
    """A text that nothing recognises would be read by no student."""
    assert sorted(OF_SEVERAL.outputs.keys() - MISTAKES.keys()) == []


def test_every_record_of_a_mistake_of_outputs_has_texts() -> None:
    """In the grader's own file, or in that of the one operation that shows it."""
    assert sorted(MISTAKES.keys() - references.MISTAKES.keys()) == []
    of_one_operation = MISTAKES.keys() - OF_SEVERAL.outputs.keys()
    assert sorted(of_one_operation) == sorted(of_one_operation & {one.id for one in table.OF_OPERATIONS})


def test_mistakes_of_findings_are_those_with_texts() -> None:
    """Each once, in either direction."""
    assert sorted(HINTS_OF_FINDINGS) == sorted(OF_SEVERAL.findings)


def test_no_mistake_has_two_records() -> None:
    """The second one would say something else of it."""
    taken = next(iter(MISTAKES))
    with pytest.raises(ValueError, match=taken):
        register(Mistake(taken, Rank.CERTAIN))


def test_mistakes_name_others_that_there_are() -> None:
    """Those that exclude each other do so both ways, and what accesses show has its own record."""
    for one in MISTAKES.values():
        assert not one.excludes or MISTAKES[one.excludes].excludes == one.id
        assert not one.at_accesses or one.at_accesses in HINTS_OF_FINDINGS
        assert not one.in_vectors or MISTAKES[one.in_vectors].says is one.says


def test_every_test_of_outputs_is_asked() -> None:
    """Of modules that the table knows, and in ranks that are asked for."""
    asked = table.tests(*Rank)
    assert len(asked) == len(TESTS)
    assert {MISTAKES[name].rank for name, _ in asked} == {Rank.CERTAIN, Rank.LIKELY, Rank.APPEARANCE}


def test_tests_are_asked_as_their_modules_define_them() -> None:
    """So the place of a function decides when it is asked, whichever module is loaded first."""
    places = [(test.__module__, test.__code__.co_firstlineno) for _, test in table.tests(*Rank)]
    modules = list(dict.fromkeys(module for module, _ in places))
    assert modules == [module.__name__ for module in table.MODULES if module.__name__ in modules]
    assert places == sorted(places, key=lambda place: (modules.index(place[0]), place[1]))
