"""Every mistake that has a name, and all that is said of it: one table, which staff may put otherwise.

`outputs`, `places`, `matmul` and `operations` hold what outputs show, `findings` what races, bad accesses and
refused launches show; `concepts` says where to read on. An assignment's ``feedback:`` names a YAML file with
other texts (in another language, say). No text holds a number of a case: it is also told of hidden cases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.mistakes.concepts import CONCEPTS, PHRASES
from grader.mistakes.findings import FINDING_MISTAKES
from grader.mistakes.matmul import MATMUL_MISTAKES
from grader.mistakes.operations import OPERATION_MISTAKES
from grader.mistakes.outputs import OUTPUT_MISTAKES
from grader.mistakes.places import PLACE_MISTAKES
from grader.mistakes.texts import FIELDS, FINDING_PLACES, OUTPUT_PLACES, Mistake, Texts, places

if TYPE_CHECKING:
    from grader.model import Named

__all__ = [
    "CONCEPTS",
    "FIELDS",
    "FINDING_MISTAKES",
    "MISTAKES",
    "PHRASES",
    "Mistake",
    "Texts",
    "allowed_places",
    "places",
    "texts",
]

MISTAKES: dict[str, Mistake] = {
    **OUTPUT_MISTAKES,
    **PLACE_MISTAKES,
    **MATMUL_MISTAKES,
    **OPERATION_MISTAKES,
    **FINDING_MISTAKES,
}
"""All of them, by id."""


def texts(feedback: Named[Named[str]] = ()) -> Texts:
    """The texts of an assignment whose staff say ``feedback`` instead of what comes with the grader."""
    return Texts(MISTAKES, PHRASES, CONCEPTS, feedback)


def allowed_places(mistake: str, field: str) -> frozenset[str]:
    """The places that a text may hold, ``phrases`` included; KeyError for what nobody knows."""
    if mistake == "phrases":
        return places(PHRASES[field])
    if field not in {"explanation", "hint"}:
        return frozenset()
    return frozenset(FINDING_PLACES if mistake in FINDING_MISTAKES else OUTPUT_PLACES)
