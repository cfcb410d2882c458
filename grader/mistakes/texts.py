"""What is said of a mistake, with the names of an assignment filled in; staff may say it otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from string import Formatter
from typing import TYPE_CHECKING

from grader.mistakes.bundled import Bundled, Mistake, bundled

if TYPE_CHECKING:
    from grader.model import Named

FIELDS = Mistake._fields
"""What staff may say otherwise."""

OUTPUT_PLACES = frozenset({"output", "a", "b", "tile"})
FINDING_PLACES = frozenset({"array", "at", "other_at", "between", "around", "constants"})


def places(text: str) -> frozenset[str]:
    """The places that a text holds; raises ValueError where its braces do not match."""
    return frozenset(name for _, name, _, _ in Formatter().parse(text) if name is not None)


def allowed_places(mistake: str, field: str) -> frozenset[str]:
    """The places that a text may hold, ``phrases`` included; KeyError for a phrase that does not exist."""
    if mistake == "phrases":
        return places(bundled().phrases[field])
    if field not in {"explanation", "hint"}:
        return frozenset()
    return FINDING_PLACES if mistake in bundled().findings else OUTPUT_PLACES


@dataclass(frozen=True, slots=True)
class Texts:
    """All texts of one assignment: those that come with the grader, and those of the course.

    ``feedback`` holds pairs of a mistake's id (or ``phrases``) and pairs of field (or phrase) and text, each
    of which replaces a bundled one. A mistake that has all its fields there needs no bundled ones.
    """

    bundled: Bundled
    feedback: Named[Named[str]] = ()

    def __contains__(self, name: str) -> bool:
        """Whether a mistake has texts."""
        return name in self.bundled.mistakes or set(FIELDS) <= dict(dict(self.feedback).get(name, ())).keys()

    def mistake(self, name: str) -> Mistake:
        """The texts of a mistake, the pointer to its concept written out; KeyError where it has none."""
        replaced = dict(dict(self.feedback).get(name, ()))
        common = self.bundled.mistakes.get(name)
        fields = (common._asdict() if common else {}) | replaced
        texts = Mistake(*(fields[field] for field in FIELDS))
        return texts._replace(concept=self.bundled.concepts.get(texts.concept, texts.concept))

    def phrase(self, name: str, **filled: object) -> str:
        """A phrase that explanations and hints are put together with."""
        replaced = dict(dict(self.feedback).get("phrases", ()))
        return replaced.get(name, self.bundled.phrases[name]).format(**filled)

    def pointer(self, concept: str) -> str:
        """The sentence that says where to read on; empty where there is nothing to read."""
        return self.phrase("read", concept=concept) if concept else ""


def texts(feedback: Named[Named[str]] = ()) -> Texts:
    """The texts of an assignment for which the course says ``feedback``."""
    return Texts(bundled(), feedback)
