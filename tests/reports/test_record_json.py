"""record.json: a whole grade, there and back, and what is no such file."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.base.errors import UsageError
from grader.model import Build, CaseEvidence, Comparison, Evidence, Grade, WrongElement, codec
from grader.model.codec import NAMES, Misfit, decode, encode, fits
from grader.model.seals import sealed
from grader.reports import class_table, grade_json, junit, record_json, text
from grader.reports.class_table import render_class
from tests.reports.sample_grades import CASES, GRADES, SOURCE, full_marks, partial_credit

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=3), st.just({"clock": [1, 2.5]})
)
"""Details that a backend may have measured."""

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


def test_the_fields_of_all_records_can_be_read_ahead() -> None:
    """Processes that are forked then find them in memory."""
    codec._fields.cache_clear()
    codec.read_types(Grade)
    before = codec._fields.cache_info().misses
    for make in GRADES.values():
        record_json.dump(make())
    assert codec._fields.cache_info().misses == before > 0


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(of(Grade))
def test_every_grade_comes_back_as_it_was(grade: Grade) -> None:
    """Whatever fields the records have, its evidence among them, through the text of the file."""
    stored = json.loads(json.dumps(encode(grade), allow_nan=False))
    assert same(decode(Grade, stored), grade)
    assert fits(Grade, [stored, stored])


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - JSON
    """Every place in a JSON value, by the keys that lead to it."""
    yield path
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, item in entries:
        yield from places(item, (*path, key))


def changed(value: Any, path: tuple[Any, ...], other: Any) -> Any:  # noqa: ANN401 - as above
    """A copy with another value at a place; without it where the other is `...`."""
    if not path:
        return other
    copy, (key, *rest) = (value | {} if isinstance(value, dict) else list(value)), path
    if other is ... and not rest:
        del copy[key]
    else:
        copy[key] = changed(value[key], tuple(rest), other)
    return copy


FOREIGN: tuple[Any, ...] = (
    ...,
    None,
    True,
    7,
    -1,
    2.5,
    "",
    "inf",
    "1/3",
    "1/0",
    "pass",
    "é",
    [],
    [1],
    [[1, 2]],
    {},
    {"ok": 1},
)
"""Values that may stand in a damaged or forged file in place of others."""


def is_read(value: Any) -> bool:  # noqa: ANN401 - as above
    """Return whether `decode` reads it as a grade."""
    try:
        decode(Grade, value)
    except Misfit:
        return False
    return True


def test_what_is_looked_at_all_together_fits_where_it_can_be_read() -> None:
    """With every value of a stored grade in turn replaced or left out, in the evidence as elsewhere."""
    wrong = Comparison("C", 9, 1, 0, math.inf, 1e-5, WrongElement((1, 2), 1.5, math.nan, 1e-5))
    evidence = replace(SEEN, cases=(replace(SEEN.cases[1], comparisons=(wrong,)),))
    grade = replace(whole(), items=whole().items[2:3], cases=whole().cases[:1], evidence=evidence)
    stored = encode(without_options(grade))
    for path in list(places(stored))[1:]:
        for foreign in FOREIGN:
            other = changed(stored, path, foreign)
            assert fits(Grade, [stored, other]) == is_read(other), (path, foreign)


SEEN = Evidence("emulator", Build(ok=True), (CaseEvidence(CASES[0]), CaseEvidence(CASES[3])))


def whole() -> Grade:
    """A grade with what it was decided on."""
    return replace(partial_credit(), evidence=SEEN)


@pytest.mark.parametrize("name", GRADES)
def test_a_stored_grade_renders_as_the_grade_did(name: str) -> None:
    """Every report of a grade read back is the report of the grade itself, to the byte."""
    grade = GRADES[name]()
    if name == "hostile":  # JSON reads its pair of surrogates as one letter; no name of a file holds a pair
        grade = record_json.load(record_json.dump(grade))
    stored = record_json.load(record_json.dump(grade))
    assert stored == without_options(grade)
    assert grade_json.dump(stored) == grade_json.dump(grade)
    assert class_table.gradebook([stored]) == class_table.gradebook([grade])
    assert render_class([stored]).plain == render_class([grade]).plain
    assert text.render(stored, source_lines=SOURCE) == text.render(grade, source_lines=SOURCE)
    assert junit.render([stored]) == junit.render([grade])


def without_options(grade: Grade) -> Grade:
    """The grade without the options of its items, which are not stored."""
    items = tuple(
        replace(item, result=replace(item.result, item=replace(item.result.item, options=())))
        for item in grade.items
    )
    return replace(grade, items=items)


def test_points_and_what_is_not_finite_come_back() -> None:
    """A third of 25 points exactly; an error without bounds."""
    stored = record_json.load(record_json.dump(whole()))
    assert stored.items[2].points == Fraction(25, 3)
    assert stored.cases[1].max_error == math.inf


def test_what_a_grade_was_decided_on_comes_with_it() -> None:
    """Equality of grades leaves it out, so it is looked at by itself."""
    assert record_json.load(record_json.dump(whole())).evidence == whole().evidence


def test_of_the_evidence_a_class_is_read_with_the_backend_and_the_digest_of_the_build() -> None:
    """That is what its reports need; all else is as it was, and a grade without evidence has none."""
    grade = replace(whole(), evidence=replace(SEEN, build=Build(ok=True, digest="d1")))
    read = record_json.load(record_json.dump(grade), with_evidence=False)
    assert read == record_json.load(record_json.dump(grade))
    assert read.evidence == Evidence("emulator", Build(ok=True, digest="d1"))
    assert record_json.load(record_json.dump(full_marks()), with_evidence=False).evidence is None


def plain(grade: Grade) -> dict[str, Any]:
    """A stored record without its checksum."""
    record: dict[str, Any] = json.loads(record_json.dump(grade))
    del record["checksum"]
    return record


def test_keys_of_a_later_version_are_passed_over() -> None:
    """In every record of the file."""
    later = plain(whole())
    later["grade"]["evidence"]["later"] = later["later"] = {"x": 1}
    later["grade"]["cases"][0]["warp_size"] = 32
    assert record_json.load(sealed(json.dumps(later))) == record_json.load(record_json.dump(whole()))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("format_version", 3, "expected format version 2"),
        ("grade", [], "grade: expected an object"),
        ("grade.items", "none", "grade.items: expected an array"),
        ("grade.submission_id", 7, "submission_id: expected a text"),
        ("grade.items.0.result.verdict", "excellent", "result.verdict: expected a Verdict"),
        ("grade.items.0.points", "1e999999999", "items[0].points: expected a Fraction"),
        ("grade.items.0.points", "1/0", "items[0].points: expected a Fraction"),
        ("grade.items.0.points", 10, "items[0].points: expected a Fraction"),
        ("grade.items.2.result.findings.0.block", [1, 2], "block: expected 3 entries, found 2"),
        ("grade.cases.0.counters", {"flops": "many"}, "counters.flops: expected a whole number"),
        ("grade.evidence.build", None, "evidence.build: expected an object"),
        ("grade.evidence.build.ok", "yes", "evidence.build.ok: expected true or false"),
        ("grade.evidence.cases", {}, "evidence.cases: expected an array"),
        ("grade.evidence.cases.0.case", {}, "evidence.cases[0].case: expected a key id"),
        ("grade.evidence.cases.0.case.shape", [["M"]], "case.shape[0]: expected 2 entries, found 1"),
        ("grade.evidence.cases.0.case.visibility", "secret", "case.visibility: expected a Visibility"),
        ("grade.evidence.cases.0.seconds", "fast", "cases[0].seconds: expected a number"),
        ("grade.evidence.cases.0.seconds", 10**400, "cases[0].seconds: expected a number"),
        ("grade.evidence.cases.0.seconds", True, "cases[0].seconds: expected a number"),
        ("grade.evidence.build.program", "é", "build.program: expected base64"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_at_the_place(path: str, value: object, message: str) -> None:
    """By its name, and with what to do."""
    data = plain(whole())
    *parents, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    holder: Any = data
    for key in parents:
        holder = holder[key]
    holder[last] = value
    for with_evidence in (True, False):
        with pytest.raises(UsageError) as refused:
            record_json.load(sealed(json.dumps(data)), "out/record.json", with_evidence=with_evidence)
        assert message in str(refused.value)
        assert str(refused.value).startswith("out/record.json is no stored grade: ")


@pytest.mark.parametrize(
    "foreign",
    [
        "",
        "{",
        "null",
        "[]",
        "{}",
        '{"format_version": 1}',
        "[" * 100_000,
        '{"format_version": 1e999}',
        "9" * 5000,
        record_json.dump(whole())[:-200],
        grade_json.dump(whole()),
    ],
    ids=range(11),
)
def test_anything_else_is_refused_too(foreign: str) -> None:
    """Truncated or of another kind: with a message, never with a traceback."""
    for with_evidence in (True, False):
        with pytest.raises(UsageError, match=r"is no stored grade: .*; grade the submission again"):
            record_json.load(foreign, with_evidence=with_evidence)


def test_the_record_of_another_submission_is_refused() -> None:
    """Its reports would be written into the folder of another student."""
    stored = record_json.dump(full_marks())
    assert record_json.load(stored, "record.json", "ada").submission_id == "ada"
    for with_evidence in (True, False):
        with pytest.raises(UsageError, match="it is the record of another submission"):
            record_json.load(stored, "record.json", "bob", with_evidence=with_evidence)


def test_builds_within_builds_without_end_are_refused() -> None:
    """The only record that may hold another of its kind."""
    nested = '{"ok":true,"others":[["k",' * 30_000 + '{"ok":true}' + "]]}" * 30_000
    stored = json.dumps(plain(whole()), separators=(",", ":"))
    assert '"build":{"ok":true}' in stored
    for with_evidence in (True, False):
        with pytest.raises(UsageError, match="is no stored grade"):
            record_json.load(
                sealed(stored.replace('"build":{"ok":true}', f'"build":{nested}')),
                with_evidence=with_evidence,
            )
