"""Made-up outcomes and reports: what the tests of judging and reporting share."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from grader.authoring.validation.records import (
    CaseUse,
    Control,
    Explained,
    Mutant,
    Report,
    Stability,
    Staff,
    StaffMistake,
    TrialOutcome,
)
from grader.model import Verdict

STAFF = Staff("solution.cu", b"", b"skeleton", (), ())


def outcome(name: str, *failed: str, cases: tuple[str, ...] = ("wide",), **more: Any) -> TrialOutcome:  # noqa: ANN401 - any field
    """An outcome that lost these items, all of them in these cases."""
    lost = 10 * len(failed)
    plain = TrialOutcome(
        name=name,
        seed=1,
        verdict=Verdict.FAIL if failed else Verdict.PASS,
        score=Fraction(100 - lost),
        max_score=Fraction(100),
        failed=failed,
        charged=failed,
        kills=tuple((case, failed) for case in cases) if failed else (),
    )
    return replace(plain, **more)


def mutant(name: str, kind: str = "guard-dropped", line: int = 7) -> Mutant:
    """A mutant with a diff of two lines."""
    diff = "--- solution\n+++ mutant\n@@ -7 +7 @@\n-    if (i < n) {\n+    if (true) {"
    return Mutant(name, kind, line, "if (i < n) → if (true)", b"", diff)


def mistake(name: str, *loses: str) -> StaffMistake:
    """A mistake that must lose these items."""
    return StaffMistake(name, f"about {name}", loses, b"")


def report(**more: Any) -> Report:  # noqa: ANN401 - any field
    """A sound report; ``more`` replaces its fields."""
    plain = Report(
        assignment="vector-add",
        title="Adding vectors",
        kind="kernel",
        digest="5eed" * 16,
        seed=1,
        cases=4,
        points=Fraction(100),
        solution=outcome("model solution", skipped=("speedup",)),
        skeleton=outcome("skeleton", "right", "memory"),
        mistakes=((mistake("no_guard.cu", "memory"), outcome("no_guard.cu", "memory", cases=("odd",))),),
        mutants=(
            (mutant("guard-dropped-1"), outcome("guard-dropped-1", "memory", cases=("odd",))),
            (mutant("zero-stored-2", "zero-stored", 9), outcome("zero-stored-2", "right")),
            (mutant("zero-stored-3", "zero-stored", 9), outcome("zero-stored-3", unchanged=True)),
        ),
        uses=(
            CaseUse("wide", 1, ("zero-stored-2",), spare=False),
            CaseUse("odd", 2, ("guard-dropped-1",), spare=False),
            CaseUse("one", 1, (), spare=True),
        ),
        controls=(Control("summed backwards", "C", inside=True, wanted=True),),
        stability=Stability(20, 3),
        seconds=(("per submission on the emulator", 0.5), ("validation", 61.25)),
        spent=(("building mutants", 40.4), ("mutants", 12.25), ("mistakes", 3.5)),
    )
    return replace(plain, **more)


def survivors() -> Report:
    """A report with a survivor, one that is explained, a mistake that strays, and a control that fails."""
    return report(
        mistakes=((mistake("no_guard.cu", "memory"), outcome("no_guard.cu", "right")),),
        mutants=(
            (mutant("guard-dropped-1"), outcome("guard-dropped-1")),
            (mutant("constant-changed-4", "constant-changed", 3), outcome("constant-changed-4")),
        ),
        explained=(Explained("constant-changed-4", "the padding is never read"),),
        controls=(Control("of operands in TF32", "C", inside=True, wanted=False),),
    )
