"""evidence.json: what a grade was decided on, there and back, and what is no such file."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.errors import UsageError
from grader.model import Build, CaseEvidence, Evidence
from grader.reports import evidence_json
from grader.reports.records_json import NAMES, decode, encode
from tests.reports.sample_grades import CASES, full_marks

PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=3), st.just({"clock": [1, 2.5]})
)
"""What a backend may have measured."""

LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(st.characters(), max_size=4),
    int: st.integers(),
    bool: st.booleans(),
    float: st.floats(),
    bytes: st.binary(max_size=4),
    Fraction: st.fractions(),
    Any: PLAIN,
}


def of(kind: Any, depth: int = 0) -> st.SearchStrategy[Any]:  # noqa: ANN401 - annotations are no types to mypy
    """Any value that a field of this type may have."""
    if kind in LEAVES:
        return LEAVES[kind]
    if is_dataclass(kind):
        return record(kind, depth + 1)
    arguments, origin = get_args(kind), get_origin(kind)
    if origin in (Union, UnionType):
        return st.one_of(*(st.none() if each is type(None) else of(each, depth) for each in arguments))
    if origin is tuple and arguments[1:] == (...,):
        return st.lists(of(arguments[0], depth), max_size=2 if depth < 4 else 0).map(tuple)
    if origin is tuple:
        return st.tuples(*(of(each, depth) for each in arguments))
    return st.sampled_from(list(kind))


def record(kind: Any, depth: int) -> st.SearchStrategy[Any]:  # noqa: ANN401 - as above
    """Any record of this type; a build holds builds, so that they end somewhere."""
    hints = get_type_hints(kind, localns=NAMES)
    names = [field.name for field in fields(kind) if not (kind is Build and field.name == "others")]
    return st.deferred(lambda: st.builds(kind, **{name: of(hints[name], depth) for name in names}))


def same(one: Any, other: Any) -> bool:  # noqa: ANN401 - as above
    """Equality to which NaN is equal to itself."""
    if is_dataclass(one):
        pairs = ((getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
        return type(one) is type(other) and all(same(*pair) for pair in pairs)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and math.isnan(one):
        return isinstance(other, float) and math.isnan(other)
    return bool(one == other)


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(of(Evidence))
def test_every_evidence_comes_back_as_it_was(evidence: Evidence) -> None:
    """Whatever fields the records have, through the text of the file."""
    stored = json.loads(json.dumps(encode(evidence), allow_nan=False))
    assert same(decode(Evidence, stored), evidence)


def stored_text() -> str:
    """A file as it is written."""
    evidence = Evidence("emulator", Build(ok=True), (CaseEvidence(CASES[0]), CaseEvidence(CASES[3])))
    return evidence_json.dump(replace(full_marks(), evidence=evidence))


def test_a_file_says_whose_evidence_it_is() -> None:
    """And of which format."""
    stored = evidence_json.load(stored_text(), "evidence.json")
    assert (stored.submission.id, stored.submission.file, stored.format_version) == ("ada", "ada.cu", 1)
    assert [case.case for case in stored.evidence.cases] == [CASES[0], CASES[3]]


def test_keys_of_a_later_version_are_passed_over() -> None:
    """As in grade.json."""
    later = json.loads(stored_text())
    later["evidence"]["later"] = later["later"] = {"x": 1}
    assert evidence_json.load(json.dumps(later), "evidence.json").submission.id == "ada"


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("format_version",), 2, "expected format version 1"),
        (("evidence",), [], "evidence: expected an object"),
        (("evidence", "build"), None, "evidence.build: expected an object"),
        (("evidence", "build", "ok"), "yes", "evidence.build.ok: expected true or false"),
        (("evidence", "cases"), {}, "evidence.cases: expected an array"),
        (("evidence", "cases", 0, "case"), {}, "evidence.cases[0].case: expected a key id"),
        (("evidence", "cases", 0, "case", "shape"), [["M"]], "case.shape[0]: expected 2 entries, found 1"),
        (("evidence", "cases", 0, "case", "visibility"), "secret", "case.visibility: expected a Visibility"),
        (("evidence", "cases", 0, "seconds"), "fast", "cases[0].seconds: expected a number"),
        (("evidence", "cases", 0, "seconds"), 10**400, "cases[0].seconds: expected a number"),
        (("evidence", "cases", 0, "seconds"), True, "cases[0].seconds: expected a number"),
        (("evidence", "build", "program"), "é", "build.program: expected base64"),
        (("submission", "id"), 7, "submission.id: expected a text"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_at_the_place(
    path: tuple[str | int, ...], value: object, said: str
) -> None:
    """By its name, and with what to do."""
    data = json.loads(stored_text())
    place: Any = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(UsageError) as refused:
        evidence_json.load(json.dumps(data), "out/evidence.json")
    assert said in str(refused.value)
    assert str(refused.value).startswith("out/evidence.json is no stored evidence: ")


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[]", '{"format_version": 1}', "[" * 100_000, '{"format_version": 1e999}', "9" * 5000],
)
def test_anything_else_is_refused_too(text: str) -> None:
    """With a message, never with a traceback."""
    with pytest.raises(UsageError, match="is no stored evidence"):
        evidence_json.load(text, "evidence.json")


def test_builds_within_builds_without_end_are_refused() -> None:
    """The only record that may hold another of its kind."""
    data = json.loads(stored_text())
    nested = '{"ok":true,"others":[["k",' * 30_000 + '{"ok":true}' + "]]}" * 30_000
    text = json.dumps(data).replace('"build": {"ok": true}', f'"build": {nested}')
    with pytest.raises(UsageError, match="is no stored evidence"):
        evidence_json.load(text, "evidence.json")
