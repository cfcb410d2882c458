"""Parts of an assignment that are run: cases, files that a run brings back, and digests of all of them.

Case plans become concrete cases, the same for the same seed on every machine and with every library version.
The digests tell whether evidence is evidence for another version of the assignment, too: the rest is rubric,
and may change afterwards. Tags and visibility of cases are rubric: they say which items look at a case, and
who may see it.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from grader.grading.checks.text import STREAMS
from grader.model import Assignment, Case, CasePlan, OutputJudge, Visibility

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.model import Assignment, Named, RubricItem


_SEED_BITS = 128
"""Bits of a seed that cannot be found by trying.

Anyone who is shown some inputs can try seeds until one gives them: 31 bits can be tried, 128 cannot.
"""


def draw_seed() -> int:
    """A seed for a class, which cannot be guessed from the inputs that it draws."""
    import secrets  # noqa: PLC0415 - the seed of a check is public

    return secrets.randbits(_SEED_BITS)


def expand_cases(assignment: Assignment, seed: int) -> tuple[Case, ...]:
    """Every case of the assignment with a concrete shape and a seed of its own, in the assignment's order.

    Shapes of random cases depend on the seed, the plan's id and the number of the draw alone; drawn cases
    carry their plan's id as a further tag. Seeds are below 2**63. Hashes are drawn from, not a generator:
    NumPy does not promise that a generator's stream stays as it is (NEP 19).
    """
    return tuple(case for plan in assignment.cases for case in _cases(plan, seed))


def plan_ids(plan_id: str, draws: int) -> tuple[str, ...]:
    """The ids of the cases that a plan stands for: its own, or ``random-1``, ``random-2`` … if it draws."""
    return tuple(f"{plan_id}-{number}" for number in range(1, draws + 1)) or (plan_id,)


def _cases(plan: CasePlan, seed: int) -> Iterator[Case]:
    for number, case_id in enumerate(plan_ids(plan.id, plan.draws), start=1):
        shape = tuple(
            (name, low + _hashed("shape", seed, plan.id, number, name) % (high - low + 1))
            for name, (low, high) in plan.shape
        )
        yield Case(
            id=case_id,
            shape=shape,
            tags=tuple(dict.fromkeys((*plan.tags, plan.id))) if plan.draws else plan.tags,
            visibility=plan.visibility,
            inputs=plan.inputs,
            seed=_hashed("inputs", seed, case_id) % 2**63,
            offset=plan.offset,
            arguments=plan.arguments,
            stdin=plan.stdin,
            kernel=plan.kernel,
            files=plan.files,
            sizes=plan.sizes,
        )


def _hashed(*parts: str | int) -> int:
    # 256 bits against ranges of at most 31: no value is likelier than another by anything measurable.
    return int.from_bytes(sha256(repr(parts).encode()).digest(), "big")


def execution_digests(
    assignment: Assignment, cases: Iterable[Case], *, timed: bool, estimated: bool = False
) -> Named[str]:
    """Pairs of a piece, in words that fit into a message, and a digest of it.

    Evidence that was gathered for all of these pairs is evidence for this assignment; it may hold more.
    ``timed`` says whether it is about a GPU, where speedups are measured, and ``estimated`` whether it is
    about a speedup that was estimated.
    """
    cases = tuple(cases)
    pieces = [
        ("what is to be handed in, and how it is launched", _digest(assignment.interface)),
        ("the reference", assignment.reference_digest),
        *((f"case `{case.id}`", _digest(_as_run(case))) for case in cases),
    ]
    for item in assignment.rubric:
        looked_at = [case for case in cases if item.looks_at(case)]
        pieces += _needs_of_item(item, looked_at, counted=assignment.interface.counts_traffic)
    judge = assignment.undefined_outputs
    if timed and (assignment.interface.runs_on_both or judge is not OutputJudge.EMULATOR):
        pieces.append(("who decides about undefined outputs", judge))
    if timed and any(item.check == "speedup" for item in assignment.rubric):
        measured = assignment.timing and replace(assignment.timing, estimate_for="")
        pieces.append(("what is timed", _digest(measured)))
    if estimated and assignment.timing is not None:
        plan = assignment.timing
        asked = (plan.shape, plan.baseline, plan.inputs, plan.estimate_for)
        pieces.append(("what is estimated", _digest(asked)))
    return tuple(dict.fromkeys(pieces))


def _needs_of_item(item: RubricItem, cases: list[Case], *, counted: bool) -> Iterator[tuple[str, str]]:
    """The pieces that only this item asks for; ``counted`` says that traffic is counted in any case."""
    options = dict(item.options)
    if item.check == "traffic":
        if not counted:
            yield from ((f"what its kernels move in case `{case.id}`", "") for case in cases)
        if "baseline" in options:
            name, of = options["baseline"], f":{options['kernel']}" if "kernel" in options else ""
            yield from ((f"the counters of the {name}{of} kernel in case `{case.id}`", "") for case in cases)
    elif item.check in ("array", "kernel-output"):
        of = f" of `{options['kernel']}`" if "kernel" in options else ""
        array = f"the array `{options['output']}`{of}"
        yield from ((f"{array} in case `{case.id}`", _digest(item.options)) for case in cases)
    elif item.check == "text" and options["of"] not in STREAMS:
        yield f"the file `{options['of']}`", ""


def _as_run(case: Case) -> Case:
    return replace(case, tags=(), visibility=Visibility.VISIBLE)


def _digest(piece: object) -> str:
    return sha256(repr(piece).encode(errors="backslashreplace")).hexdigest()


def wanted_files(assignment: Assignment) -> tuple[str, ...]:
    """The names of the files that some item looks at, in the order of the rubric; plain names, no folders."""
    named = (dict(item.options).get("of") for item in assignment.rubric)
    return tuple(dict.fromkeys(name for name in named if name and name not in STREAMS))
