"""The texts that come with the grader, read from ``texts.yaml`` when the first mistake is explained."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = Path(__file__).with_name("texts.yaml")


class Mistake(NamedTuple):
    """A mistake that has a name: what it is called, what it did, what to try, and the idea behind it.

    ``explanation`` and ``hint`` may hold places such as ``{output}``; ``concept`` is a key of
    `Bundled.concepts`, or whatever else students should read.
    """

    title: str
    explanation: str
    hint: str
    concept: str


@dataclass(frozen=True, slots=True)
class Bundled:
    """The sections of ``texts.yaml``.

    ``outputs`` and ``findings`` have the mistakes by id, ``phrases`` what texts are put together with, and
    ``concepts`` where to read about an idea: empty where no text says more than the hint.
    """

    outputs: Mapping[str, Mistake]
    findings: Mapping[str, Mistake]
    phrases: Mapping[str, str]
    concepts: Mapping[str, str]

    @property
    def mistakes(self) -> dict[str, Mistake]:
        """All mistakes by id."""
        return {**self.outputs, **self.findings}


@cache
def bundled() -> Bundled:
    """The texts that come with the grader, read once."""
    import yaml  # noqa: PLC0415 - a submission without a mistake needs no texts

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C is ten times as fast
    sections = yaml.load(FILE.read_text(encoding="utf-8"), loader)  # noqa: S506 - both are safe
    outputs, findings = (
        {name: Mistake(**fields) for name, fields in sections[key].items()} for key in ("outputs", "findings")
    )
    return Bundled(outputs, findings, sections["phrases"], sections["concepts"])
