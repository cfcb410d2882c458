"""Builders of evidence by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from grader.model import (
    Build,
    Case,
    CaseEvidence,
    Comparison,
    Counters,
    Evidence,
    RubricItem,
    Visibility,
    WrongElement,
)

if TYPE_CHECKING:
    from collections.abc import Callable


SOUND: dict[str, dict[str, Any]] = {
    "traffic": {"metric": "global_load_bytes", "baseline": "naive"},
    "structure": {"require": ()},
    "speedup": {"baseline": "naive"},
    "array": {"of": "c.npy", "output": "C", "dtype": "float32", "shape": (), "inputs": "random"},
    "kernel-output": {
        "kernel": "scale",
        "arguments": ("A", "C"),
        "output": "C",
        "dtype": "float32",
        "shape": (),
        "inputs": "random",
    },
}
"""The options that an item of a sound rubric has."""


def _item(check: str, name: str = "", points: int = 10, **fields: Any) -> RubricItem:  # noqa: ANN401 - a record's own
    options = tuple((SOUND.get(check, {}) | fields.pop("options", {})).items())
    title = fields.pop("title", "an item")
    return RubricItem(name or check, title, Fraction(points), check, options=options, **fields)


def _comparison(wrong: int = 0, *, explanation: str = "", hint: str = "", unwritten: int = 0) -> Comparison:
    first = WrongElement((54, 0), 12.5, float("nan") if unwritten else 3.25, 1e-6, unwritten=bool(unwritten))
    return Comparison(
        array="C",
        total=2365,
        wrong=wrong,
        unwritten=unwritten,
        max_error=9.25 if wrong else 0.0,
        error_bound=1e-6,
        first=first if wrong else None,
        explanation=explanation,
        hint=hint,
    )


def _case(
    name: str,
    *,
    hidden: bool = False,
    tags: tuple[str, ...] = (),
    **fields: Any,  # noqa: ANN401 - a record's own
) -> CaseEvidence:
    visibility = Visibility.HIDDEN if hidden else Visibility.VISIBLE
    case = Case(name, (("M", 55), ("K", 48), ("N", 43)), tags, visibility, "random", 1)
    fields.setdefault("comparisons", (_comparison(),))
    if "loads" in fields:
        naive = Counters(global_load_bytes=fields.pop("naive", 908_160))
        fields["counters"] = Counters(global_load_bytes=fields.pop("loads"))
        fields["baselines"] = (("naive", naive),)
    return CaseEvidence(case, **fields)


def _evidence(*cases: CaseEvidence, build: Build | None = None) -> Evidence:
    return Evidence("emulator", build or Build(ok=True), cases)


@pytest.fixture
def item() -> Callable[..., RubricItem]:
    """A rubric item: ``item("output", partial="per-case", options={…})``."""
    return _item


@pytest.fixture
def comparison() -> Callable[..., Comparison]:
    """A comparison of C with a number of wrong elements, `C[54][0]` the first."""
    return _comparison


@pytest.fixture
def case() -> Callable[..., CaseEvidence]:
    """A case that is right by default; ``loads`` gives it counters and a baseline."""
    return _case


@pytest.fixture
def evidence() -> Callable[..., Evidence]:
    """Evidence of these cases, on the emulator."""
    return _evidence
