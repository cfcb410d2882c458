"""Every mistake that has a name, and all texts about it, which staff may replace.

``texts.yaml`` holds the texts of mistakes that more than one operation can show, and is read when the first
mistake is explained; those of one operation are in its ``reference/<operation>/feedback.yaml``. An
assignment's ``feedback:`` names a file of the same format with other texts (in another language, say). The
names of an assignment are filled in.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grader.base.records import frozen
from grader.base.text import placeholders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.model import Named

FILE = Path(__file__).with_name("texts.yaml")


class MistakeTexts(NamedTuple):
    """A mistake that has a name: what it is called, what it did, what to try, and the idea behind it.

    ``explanation`` and ``hint`` may hold places such as ``{output}``; ``concept`` is a key of
    `BundledTexts.concepts`, or any other text that students should read.
    """

    title: str
    explanation: str
    hint: str
    concept: str


@frozen
class BundledTexts:
    """The sections of ``texts.yaml``.

    ``outputs`` and ``findings`` have the mistakes by id, ``phrases`` what texts are put together with, and
    ``concepts`` where to read about an idea: empty where no text says more than the hint.
    """

    outputs: Mapping[str, MistakeTexts]
    findings: Mapping[str, MistakeTexts]
    phrases: Mapping[str, str]
    concepts: Mapping[str, str]

    @property
    def mistakes(self) -> dict[str, MistakeTexts]:
        """All mistakes by id."""
        return {**self.outputs, **self.findings}

    @property
    def shared(self) -> dict[str, Mapping[str, str]]:
        """Texts that several mistakes share, by their key in the staff's file, without empty texts."""
        return {
            "phrases": self.phrases,
            "concepts": {name: text for name, text in self.concepts.items() if text},
        }


@cache
def bundled_texts() -> BundledTexts:
    """The texts that come with the grader, read once."""
    import yaml  # noqa: PLC0415 - a submission without a mistake needs no texts

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C is ten times as fast
    sections = yaml.load(FILE.read_text(encoding="utf-8"), loader)  # noqa: S506 - both are safe
    outputs, findings = (
        {name: MistakeTexts(**fields) for name, fields in sections[key].items()}
        for key in ("outputs", "findings")
    )
    return BundledTexts(outputs, findings, sections["phrases"], sections["concepts"])


FIELDS = MistakeTexts._fields
"""Fields that staff may replace."""

OUTPUT_PLACEHOLDERS = frozenset({"output", "a", "b", "tile"})
FINDING_PLACEHOLDERS = frozenset({"array", "at", "other_at", "between", "around", "constants"})


def allowed_placeholders(mistake: str, field: str) -> frozenset[str]:
    """The places that a text may hold, one of `BundledTexts.shared` included; KeyError for an unknown one."""
    shared = bundled_texts().shared
    if mistake in shared:
        return placeholders(shared[mistake][field])
    if field not in {"explanation", "hint"}:
        return frozenset()
    return FINDING_PLACEHOLDERS if mistake in bundled_texts().findings else OUTPUT_PLACEHOLDERS


@frozen
class Texts:
    """All texts of one assignment: those that come with the grader, and those of the course.

    ``feedback`` holds pairs of a mistake's id (or ``phrases`` or ``concepts``) and pairs of field (or phrase,
    or concept) and text, each of which replaces a bundled one. A mistake that has all its fields there needs
    no bundled ones.
    """

    bundled: BundledTexts
    feedback: Named[Named[str]] = ()

    def __contains__(self, name: str) -> bool:
        """True if a mistake has texts."""
        return name in self.bundled.mistakes or set(FIELDS) <= dict(dict(self.feedback).get(name, ())).keys()

    def mistake(self, name: str) -> MistakeTexts:
        """The texts of a mistake, the pointer to its concept written out; KeyError where it has none."""
        replaced = dict(dict(self.feedback).get(name, ()))
        common = self.bundled.mistakes.get(name)
        fields = (common._asdict() if common else {}) | replaced
        texts = MistakeTexts(*(fields[field] for field in FIELDS))
        concepts = {**self.bundled.concepts, **dict(dict(self.feedback).get("concepts", ()))}
        return texts._replace(concept=concepts.get(texts.concept, texts.concept))

    def phrase(self, name: str, **filled: object) -> str:
        """A phrase that explanations and hints are put together with."""
        replaced = dict(dict(self.feedback).get("phrases", ()))
        return replaced.get(name, self.bundled.phrases[name]).format(**filled)

    def pointer(self, concept: str) -> str:
        """The sentence that says where to read on; empty where there is nothing to read."""
        return self.phrase("read", concept=concept) if concept else ""


def texts_of_course(feedback: Named[Named[str]] = ()) -> Texts:
    """The texts of an assignment for which the course says ``feedback``."""
    return Texts(bundled_texts(), feedback)
