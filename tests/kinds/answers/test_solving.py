"""The steps to an answer, and the reasons why another is wrong, are in the language of the course."""

from __future__ import annotations

from grader.kinds.answers.solving import solve_question
from grader.model.messages import TABLES, sentences_of, speaking
from tests.bundled import bundled

BRACKETED = tuple((name, f"⟦{text}⟧") for name, text in TABLES["worked-answers"].items())


def test_steps_and_mistakes_are_reported_in_the_words_of_the_course() -> None:
    """All but what the question itself has its steps end with, which is the course's anyway."""
    interface = bundled("memory-analysis").answers
    with speaking(sentences_of((("worked-answers", BRACKETED),))):
        for question in interface.questions:
            solution = solve_question(interface, question, 1, "ada")
            texts = {*solution.steps, *dict(solution.misconceptions)} - {question.note}
            assert len(texts) > len(solution.misconceptions)
            assert all(text.startswith("⟦") and text.endswith("⟧") for text in texts)
