"""The keys of staff for points and words: extra credit, penalties, own messages, bands, structure."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from grader.base.errors import SpecError
from grader.grading.assignment import execution_digests, expand_cases, load_assignment
from grader.model import RubricItem, Visibility
from tests.grading.assignment.conftest import SOUND

if TYPE_CHECKING:
    from tests.grading.assignment.conftest import Write

TRAFFIC = "{id: moved, points: 4, check: traffic, metric: global_load_bytes, baseline: naive, %s}"
BUILT = "{id: built, points: 4, check: structure, %s}"


def last_item(write: Write, item: str) -> RubricItem:
    """The record of an item that is added to a sound assignment."""
    return load_assignment(write(f"{SOUND}  - {item}\n")).rubric[-1]


def options(write: Write, item: str) -> dict[str, Any]:
    """The options of its check."""
    return dict(last_item(write, item).options)


def problems(write: Write, item: str) -> list[str]:
    """The problems of it, without file and position."""
    with pytest.raises(SpecError) as refused:
        load_assignment(write(f"{SOUND}  - {item}\n"))
    return [problem.split(": ", 1)[1] for problem in refused.value.problems]


def test_every_item_may_be_extra_hidden_for_a_while_and_have_words_of_the_staff(write: Write) -> None:
    """Of one check as of another."""
    message = "message: {pass: Well done, fail: 'Nearly: look again'}"
    made = last_item(
        write, f"{{id: x, points: 2, check: races, extra: true, visibility: after_due_date, {message}}}"
    )
    assert (made.extra, made.penalty, made.counts) == (True, False, False)
    assert (made.message_pass, made.message_fail) == ("Well done", "Nearly: look again")
    assert made.visibility is Visibility.AFTER_DUE_DATE
    assert last_item(write, "{id: y, points: 2, check: compile, penalty: true}").penalty


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("{id: x, points: 2, check: races, extra: true, penalty: true}", "either `extra` or `penalty`"),
        ("{id: x, points: 2, check: races, extra: yes}", "expected `true` or `false`, found `yes`"),
        (
            "{id: x, points: 2, check: races, message: {passed: Yes}}",
            "unknown key `passed`; did you mean `pass`?",
        ),
        (BUILT % "require: {}", "expected one of uses_shared_memory, "),
        (BUILT % "require: {uses_shared: true}", "did you mean `uses_shared_memory`?"),
        (BUILT % "require: {max_registers: 0}", "a whole number from 1"),
        (BUILT % "require: {uses_atomics: true}, kernel: other", "no case launches a kernel `other`"),
        (TRAFFIC % "none_above: 0.5", "expected a key `full_at`, which is missing"),
        (TRAFFIC % "at_most: 0.5, full_at: 0.1", "expected only one of"),
        (TRAFFIC % "none_above: 0.1, full_at: 0.5", "less is better"),
        (TRAFFIC % "at_least: 0.1", "expected a key `at_most`"),
        (TRAFFIC % "none_above: 0.5, full_at: 0.1, at_least: 0.2", "expected at most what `full_at` says"),
        (TRAFFIC % "steps: [{at_most: 0.5, credit: 0.5}]", "expected 1 in the last step"),
        (TRAFFIC % "steps: [{at_most: 0.1, credit: 0.5}, {at_most: 0.5, credit: 1}]", "a smaller share"),
        (TRAFFIC % "steps: [{at: 0.1, credit: 1}]", "unknown key `at`; expected one of at_most, credit"),
    ],
)
def test_what_cannot_be_is_refused_in_the_words_of_the_format(write: Write, item: str, message: str) -> None:
    """At the key that is wrong."""
    assert any(message in problem for problem in problems(write, item))


def test_someone_must_be_able_to_earn_points(write: Write) -> None:
    """Extra credit and penalties alone are no rubric."""
    head, _, _ = SOUND.partition("rubric:")
    text = head + "rubric:\n  - {id: x, points: 5, check: compile, extra: true}\n"
    with pytest.raises(SpecError, match="neither `extra` nor `penalty`"):
        load_assignment(write(text))


def test_traffic_is_all_or_nothing_or_a_band_or_steps(write: Write) -> None:
    """Ten exact tenths between the ends, the tightest last."""
    assert options(write, TRAFFIC % "at_most: 0.1")["at_most"] == Fraction(1, 10)
    band = options(write, TRAFFIC % "none_above: 0.5, full_at: 0.1")["steps"]
    assert band[0] == (Fraction(46, 100), Fraction(1, 10))
    assert band[-1] == (Fraction(1, 10), 1)
    steps = options(write, TRAFFIC % "steps: [{at_most: 0.25, credit: 0.5}, {at_most: 0.1, credit: 1}]")[
        "steps"
    ]
    assert steps == ((Fraction(1, 4), Fraction(1, 2)), (Fraction(1, 10), 1))


def test_a_structure_check_gets_what_is_required_and_no_more(write: Write) -> None:
    """`false` is a requirement, too."""
    required = options(write, BUILT % "require: {max_registers: 32, uses_atomics: false}")
    assert required == {"require": (("uses_atomics", False), ("max_registers", 32))}


def test_a_rubric_may_change_without_changing_what_is_run(write: Write) -> None:
    """Points, needs, tags and visibility are rubric; shapes, seeds and the interface are not."""

    def ran(text: str, seed: int = 1) -> set[tuple[str, str]]:
        made = load_assignment(write(text))
        return set(execution_digests(made, expand_cases(made, seed), timed=False))

    before = ran(SOUND)
    assert ran(SOUND.replace("points: ", "points: 1")) == before
    assert ran(f"{SOUND}  - {{id: more, points: 1, check: races, extra: true}}\n") == before
    assert ran(SOUND.replace("tags: [aligned]", "tags: [other], visibility: hidden")) == before
    assert ran(SOUND.replace("float32", "float64")) != before
    assert ran(SOUND, seed=2) != before
    more = ran(f"{SOUND}  - {TRAFFIC % 'at_most: 0.1'}\n") - before
    assert more
    assert all("the counters of the naive kernel" in piece for piece, _ in more)
