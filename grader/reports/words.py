"""The words of a report: those of the course whose grade it tells, English where the course says nothing.

Whatever writes a report of one grade is decorated with `in_its_words`, and of a class with `in_their_words`;
inside, `text_of` gives each text by its name in `grader.messages.reports`, and in a template ``words`` does
the same.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from grader.messages import fits, sentences_of, speaking, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from grader.model import Grade, Named

Asked = ParamSpec("Asked")
Report = TypeVar("Report")

TABLE = "reports"


def in_its_words(
    write: Callable[Concatenate[Grade, Asked], Report],
) -> Callable[Concatenate[Grade, Asked], Report]:
    """Make a function that writes a report of a grade speak in the words of that grade."""

    @wraps(write)
    def written(grade: Grade, /, *args: Asked.args, **kwargs: Asked.kwargs) -> Report:
        with _speaking(grade.words):
            return write(grade, *args, **kwargs)

    return written


def in_their_words(
    write: Callable[Concatenate[Sequence[Grade], Asked], Report],
) -> Callable[Concatenate[Sequence[Grade], Asked], Report]:
    """Make a function that writes a report of a class speak in the words of its first grade."""

    @wraps(write)
    def written(grades: Sequence[Grade], /, *args: Asked.args, **kwargs: Asked.kwargs) -> Report:
        with _speaking(grades[0].words if grades else ()):
            return write(grades, *args, **kwargs)

    return written


def _speaking(stored: Named[str]) -> AbstractContextManager[None]:
    """Speak in words that a grade keeps.

    A stored grade may be foreign: what is no text of ours, or has other fields, is not filled in.
    """
    words = tuple((name, text) for name, text in stored if fits(TABLE, name, text))
    return speaking(sentences_of(((TABLE, words),)))


@in_its_words
def of_grade(grade: Grade, name: str) -> str:  # noqa: ARG001 - it decides the language
    """Give a text that is printed beside the report of a grade."""
    return text_of(name)
