"""What is said of a mistake, with the names of an assignment filled in; staff may say it otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from string import Formatter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.model import Named


class Mistake(NamedTuple):
    """A mistake that has a name: what it is called, what it did, what to try, and the idea behind it.

    ``explanation`` and ``hint`` may hold places such as ``{output}``; ``concept`` is a key of `CONCEPTS`, or
    in a text of the staff's whatever they want students to read.
    """

    title: str
    explanation: str
    hint: str
    concept: str


FIELDS = Mistake._fields
"""What staff may say otherwise."""

OUTPUT_PLACES = ("output", "a", "b", "tile")
FINDING_PLACES = ("array", "at", "other_at", "between", "around", "constants")


def places(text: str) -> frozenset[str]:
    """The places that a text holds; raises ValueError where its braces do not match."""
    return frozenset(name for _, name, _, _ in Formatter().parse(text) if name is not None)


@dataclass(frozen=True, slots=True)
class Texts:
    """All texts of one assignment: those that come with the grader, and what the staff say instead.

    ``feedback`` holds pairs of a mistake's id (or ``phrases``) and pairs of field (or phrase) and text.
    """

    mistakes: Mapping[str, Mistake]
    phrases: Mapping[str, str]
    concepts: Mapping[str, str]
    feedback: Named[Named[str]] = ()

    def mistake(self, name: str) -> Mistake:
        """The texts of a mistake, the pointer to its concept written out; KeyError for a name not known."""
        known = self.mistakes[name]
        spoken = known._replace(concept=self.concepts.get(known.concept, ""))
        own = dict(dict(self.feedback).get(name, ()))
        return spoken._replace(**{field: own[field] for field in FIELDS if field in own})

    def phrase(self, name: str, **filled: object) -> str:
        """A phrase that explanations and hints are put together with."""
        own = dict(dict(self.feedback).get("phrases", ()))
        return own.get(name, self.phrases[name]).format(**filled)

    def pointer(self, concept: str) -> str:
        """The sentence that says where to read on; empty where there is nothing to read."""
        return self.phrase("read", concept=concept) if concept else ""
