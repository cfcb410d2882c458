"""The staff's own texts about mistakes: any of them, in any language, checked as the assignment is."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.base.errors import SpecError
from grader.base.text import placeholders
from grader.explaining import WrongOutput, advise, explain_findings, explain_output
from grader.grading.assignment import load_assignment
from grader.grading.assignment.feedback import SHARED_KEYS
from grader.grading.checks.hazards import RacesCheck
from grader.grading.checks.wording import concealed
from grader.model import (
    Access,
    Assignment,
    Build,
    Cause,
    Evidence,
    Finding,
    FindingCode,
    FindingKind,
    RubricItem,
)
from grader.model.messages import TABLES, sentences_of, speaking
from grader.model.mistakes import FIELDS, allowed_placeholders, bundled_texts, texts_of_course
from grader.reports.selection import caused
from tests.grading.assignment.conftest import SOUND
from tests.references import MISTAKES, hypotheses

if TYPE_CHECKING:
    from tests.grading.assignment.conftest import Write

GERMAN = (Path(__file__).parent / "feedback_de.yaml").read_text(encoding="utf-8")


def loaded(write: Write, text: str, name: str = "feedback.yaml") -> Assignment:
    """The sound assignment with this file of texts beside it."""
    folder = write(f"feedback: {name}\n" + SOUND)
    (folder / "feedback.yaml").write_text(text, encoding="utf-8")
    return load_assignment(folder)


def problems(write: Write, text: str) -> list[str]:
    """The problems that are reported about a file of texts, without its folder."""
    with pytest.raises(SpecError) as raised:
        loaded(write, text)
    return [line.partition("scale/")[2] for line in raised.value.problems]


def test_a_translation_has_all_texts_and_the_same_places(write: Write) -> None:
    """Every mistake has a title, an explanation and a hint; no place but those that the original may hold."""
    feedback = {name: dict(texts) for name, texts in loaded(write, GERMAN).feedback}
    missing = {*SHARED_KEYS, *TABLES, *MISTAKES} - set(feedback)
    assert not missing, f"no translation in tests/grading/assignment/feedback_de.yaml of {sorted(missing)}"
    assert set(feedback) <= {*SHARED_KEYS, *TABLES, *MISTAKES}
    for mistake, known in MISTAKES.items():
        texts = feedback[mistake]
        assert {"title", "explanation", "hint"} <= set(texts) <= set(FIELDS)
        assert texts["explanation"] != known.explanation
        assert placeholders(texts["explanation"]) <= allowed_placeholders(mistake, "explanation")
    for key, ours in bundled_texts().shared.items():
        assert {name: placeholders(text) for name, text in feedback[key].items()} == {
            name: placeholders(text) for name, text in ours.items()
        }


@pytest.mark.parametrize("table", TABLES)
def test_a_translation_has_every_sentence_about_findings_with_its_fields(write: Write, table: str) -> None:
    """Every code, every part of a sentence and every kind, with nothing left out."""
    texts_of_table = dict(dict(loaded(write, GERMAN).feedback)[table])
    assert set(texts_of_table) == set(TABLES[table])
    for name, text in texts_of_table.items():
        assert placeholders(text) == placeholders(TABLES[table][name]), name


@pytest.mark.parametrize("mistake", MISTAKES)
def test_every_text_of_ours_holds_places_that_are_filled_and_a_concept_that_is_known(mistake: str) -> None:
    """The bundled texts may use the same placeholders as those of staff."""
    known = MISTAKES[mistake]
    assert known.concept in bundled_texts().concepts
    assert not placeholders(known.title)
    for field in ("explanation", "hint"):
        assert placeholders(getattr(known, field)) <= allowed_placeholders(mistake, field)


def test_what_students_read_is_the_staff_s(write: Write) -> None:
    """Of outputs and of findings; the concept may be a pointer of one's own."""
    feedback = loaded(write, GERMAN).feedback
    got = np.arange(1, 41, dtype=np.float32)
    output = WrongOutput("C", 2 * got, got.astype(np.float64), 0.0, np.zeros(40, np.bool_))
    found = explain_output(hypotheses("matmul"), output, feedback)
    assert found is not None
    assert found.explanation == "jedes Element von `C` ist das richtige mal demselben Faktor"
    race = Finding(
        FindingKind.RACE, "x", hazard="RAW", line=18, other_line=13, thread=(0, 0, 0), address="A_tile[0]"
    )
    (named,) = explain_findings([race], feedback)
    assert named.explanation == (
        "ein Thread liest `A_tile` in Zeile 18, während ein anderer dort noch schreibt in Zeile 13"
    )
    assert named.names_line
    cause = Cause(named.mistake, named.explanation, named.advice, line=18, names_line=named.names_line)
    assert "line" not in caused(cause)
    assert named.advice == (
        "setze `__syncthreads()` zwischen die Zeilen 13 und 18. Zum Nachlesen: Kapitel 5 der Vorlesung."
    )
    assert advise((), feedback) == ()


def test_where_to_read_about_an_idea_is_given_once_for_all_its_mistakes(write: Write) -> None:
    """A course translates the pointer, and no mistake of that idea."""
    texts = texts_of_course(loaded(write, "concepts:\n  boundary: chapter 3\n").feedback)
    assert texts.mistake("edge-wrong").concept == "chapter 3"
    assert problems(write, "concepts:\n  arithmetic: x\n") != []


def test_texts_that_the_staff_leave_out_are_the_bundled_ones(write: Write) -> None:
    """One text of one mistake may be another; so may the digest, as with everything that students see."""
    changed = loaded(write, "edge-wrong:\n  hint: Look at slide 12 of `{output}`.\n")
    mistake = texts_of_course(changed.feedback).mistake("edge-wrong")
    assert mistake.hint == "Look at slide 12 of `{output}`."
    assert mistake.explanation == MISTAKES["edge-wrong"].explanation
    assert mistake.concept == bundled_texts().concepts["boundary"]
    assert changed.digest != loaded(write, "edge-wrong: {hint: Another.}\n").digest


def test_a_finding_is_reported_in_the_words_of_the_course(write: Write) -> None:
    """By its code, with its parts, and of a hidden case by its kind."""
    german = sentences_of(loaded(write, GERMAN).feedback)
    access = Access("write", "global", "C", (9,), 4)
    beyond = Finding(
        FindingKind.OUT_OF_BOUNDS,
        "writes C[9]",
        line=7,
        address="C[9]",
        code=FindingCode.BEYOND_ARRAY,
        access=access,
        details=(("index", 9), ("elements", 9)),
    )
    assert german.worded(beyond).message == "schreibt C[9], 1 hinter dem Ende: C hat 9 Elemente"
    assert german.of_kind(beyond) == "ein Thread schreibt außerhalb von `C[9]` in Zeile 7"
    compiler = Finding(FindingKind.COMPILE, 'expected a ";"')
    assert german.worded(compiler) == compiler


def test_unknown_sentences_and_their_fields_are_reported_with_their_places(write: Write) -> None:
    """A code, a part or a kind that does not exist, and a field that the sentence does not have."""
    text = (
        "messages:\n"
        "  beyond-arrays: x\n"
        "  trap: 'in {lines}'\n"
        "  never-ends: '{steps:>9}'\n"
        "  stack-overflow: 'in line {line} {function}'\n"
        "  variables-too-large: '{bytes:,} {most}'\n"
        "clauses: {zzz: x}\n"
        "hidden:\n"
        "  race: '{thread}'\n"
    )
    common = "`{array}`, `{block}`, `{element}`, `{line}`, `{other_line}`, `{other_thread}`, `{thread}`"
    unknown = "unknown place `{{{}}}`; this text may hold {}"
    found = problems(write, text)
    assert found[0].endswith(
        "messages.beyond-arrays: unknown key `beyond-arrays`; did you mean `beyond-array`?"
    )
    assert found[1] == f"feedback.yaml:3:9: messages.trap: {unknown.format('lines', common)}"
    assert found[2].startswith(
        "feedback.yaml:4:15: messages.never-ends: unknown place `{steps}`; this text may"
    )
    assert found[3].endswith("clauses.zzz: unknown key `zzz`; the names are those in grader/model/messages")
    fields = "`{at}`, `{at_both}`, `{other_at}`, `{what}`, `{who}`"
    assert found[4] == f"feedback.yaml:9:9: hidden.race: {unknown.format('thread', fields)}"
    assert len(found) == 5


def test_what_is_reported_of_a_hidden_case_is_in_the_words_of_the_course(write: Write) -> None:
    """As long as they are spoken, and not afterwards."""
    race = Finding(FindingKind.RACE, "x", hazard="RAW", line=18, other_line=13, address="A_tile[0]")
    with speaking(sentences_of(loaded(write, GERMAN).feedback)):
        assert concealed(race).message == (
            "ein Thread liest `A_tile` in Zeile 18, während ein anderer dort noch schreibt in Zeile 13 "
            "(in einem verborgenen Fall)"
        )
    assert concealed(race).message.endswith("is still writing it on line 13 (in a hidden case)")


def test_the_message_of_a_check_is_in_the_words_of_the_course(write: Write) -> None:
    """Here of an item whose cases were not run."""
    check = RacesCheck(item=RubricItem("races", "No races", Fraction(10), "races"))
    evidence = Evidence("emulator", Build(ok=True))
    with speaking(sentences_of(loaded(write, GERMAN).feedback)):
        assert check.judge(evidence).message == "keiner der Fälle lief diesmal"
    assert check.judge(evidence).message == "none of its cases was run this time"


def test_every_flaw_is_reported_with_its_place(write: Write) -> None:
    """Unknown mistakes, keys and places, braces, nothing at all: each with line and column."""
    text = (
        "stale-tiles: {hint: x}\n"
        "stale-tile:\n"
        "  hints: x\n"
        "  hint: 'look at {line}'\n"
        "  title: 'of {output}'\n"
        "  explanation: 'a { alone'\n"
        "all-zeros: nothing\n"
        "no-store: {hint: }\n"
        "sign-flipped: {hint: '{output.shape} {output!r} {output:>9}'}\n"
        "phrases: {and: '{lines}'}\n"
    )
    these = "this text may hold `{a}`, `{b}`, `{output}`, `{tile}`"
    assert problems(write, text) == [
        "feedback.yaml:1:1: stale-tiles: unknown mistake `stale-tiles`; did you mean `stale-tile`?",
        "feedback.yaml:3:3: stale-tile.hints: unknown key `hints`; did you mean `hint`?",
        f"feedback.yaml:4:9: stale-tile.hint: unknown place `{{line}}`; {these}",
        "feedback.yaml:5:10: stale-tile.title: unknown place `{output}`; this text may hold none",
        "feedback.yaml:6:16: stale-tile.explanation: braces do not match; write `{{` for a brace itself",
        "feedback.yaml:7:12: all-zeros: expected a mapping with any of title, explanation, hint, concept",
        "feedback.yaml:8:18: no-store.hint: expected a text",
        *(
            f"feedback.yaml:9:22: sign-flipped.hint: unknown place `{{{name}}}`; {these}"
            for name in ("output.shape", "output", "output")
        ),
        "feedback.yaml:10:16: phrases.and: unknown place `{lines}`; this text may hold none",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a list\n", "expected a mapping of mistakes to their texts"),
        ("a: [\n", "not valid YAML"),
        ("stale-tile: {hint: *x}\n", "`*x` is an alias"),
        ("stale-tile: {hint: a, hint: b}\n", "given twice"),
        ('stale-tile: {hint: "\\e[2J"}\n', "without control characters"),
        (f"stale-tile: {{hint: {'x' * 2001}}}\n", "at most 2,000 characters"),
        ("x: {}\n", "unknown mistake `x`; the ids are those in grader/model/mistakes/texts.yaml and in"),
    ],
)
def test_a_file_that_is_no_table_of_texts_is_refused(write: Write, text: str, message: str) -> None:
    """In one line that names the file."""
    (problem,) = problems(write, text)
    assert problem.startswith("feedback.yaml:")
    assert message in problem


def test_the_file_is_beside_the_assignment_and_there(write: Write) -> None:
    """A missing file is reported where it is named."""
    with pytest.raises(SpecError, match=r"assignment\.yaml:1:11: feedback: there is no file `other\.yaml`"):
        loaded(write, GERMAN, "other.yaml")
    with pytest.raises(SpecError, match="feedback: expected the name of a YAML file beside the assignment"):
        loaded(write, GERMAN, "../other.yaml")


def test_a_text_that_is_no_longer_used_is_no_mistake(write: Write) -> None:
    """A translation of an earlier version stays one, whatever the text held."""
    loaded(write, 'reports: {hidden-cases: "{count} verborgene", hidden-cases-one: "{count} verborgener"}\n')
