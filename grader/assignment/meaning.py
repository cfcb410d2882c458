"""What must hold between the parts of an assignment: ids, tags, `needs`, thresholds, baselines."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from grader.assignment.cases import drawn_ids
from grader.assignment.document import Flaw, Path
from grader.assignment.fields import suggestion
from grader.assignment.rubric import CasesPart, SpeedupItem, StructureItem, TrafficItem
from grader.assignment.structure import SOLUTION, FixedCase, KernelPart, RandomCases
from grader.assignment.thresholds import is_below, out_of_order, shares_out_of_order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.assignment.draft import CasePart, Draft
    from grader.model import Threshold


def flaws(draft: Draft, kernels: frozenset[str] | None) -> Iterator[Flaw]:
    """All that does not fit together; ``kernels`` are those in the reference folder, if there is one."""
    yield from _repeated_case_ids(draft)
    yield from _repeated_item_ids(draft)
    yield from _unknown_needs(draft)
    yield from _circular_needs(draft)
    yield from _unknown_cases(draft)
    yield from _points(draft)
    yield from _thresholds(draft)
    yield from _looked_at_kernels(draft)
    if kernels is not None:
        yield from _baselines(draft, kernels)
        yield from _timed_kernels(draft, kernels)


def _ids(case: CasePart) -> tuple[str, ...]:
    if isinstance(case, RandomCases):
        return (case.id, *drawn_ids(case.id, case.random))
    return (case.id,)


def _repeated_case_ids(draft: Draft) -> Iterator[Flaw]:
    owner: dict[str, int] = {}
    for index, case in enumerate(draft.cases):
        own = _ids(case) if case else ()
        taken = next((one for one in own if one in owner), None)
        if taken:
            message = f"expected an `id` of its own; `{taken}` is that of cases[{owner[taken]}] already"
            yield Flaw(("cases", index, "id"), message)
        owner = dict.fromkeys(own, index) | owner
    for index, case in enumerate(draft.cases):
        for place, tag in enumerate(case.tags if case else ()):
            if tag in owner and case and tag != case.id:
                message = f"expected a tag that is no case's id; `{tag}` is that of cases[{owner[tag]}]"
                yield Flaw(("cases", index, "tags", place), message)


def _repeated_item_ids(draft: Draft) -> Iterator[Flaw]:
    seen: dict[str, int] = {}
    for index, item in enumerate(draft.rubric):
        if item and item.id in seen:
            message = f"expected an `id` of its own; `{item.id}` is that of rubric[{seen[item.id]}] already"
            yield Flaw(("rubric", index, "id"), message)
        elif item:
            seen[item.id] = index


def _unknown_needs(draft: Draft) -> Iterator[Flaw]:
    known = draft.item_ids
    for index, item in enumerate(draft.rubric):
        for place, needed in enumerate(item.needs if item else ()):
            if known is not None and needed not in known:
                message = f"no item is called `{needed}`; {suggestion(needed, sorted(known))}"
                yield Flaw(("rubric", index, "needs", place), message)


def _circular_needs(draft: Draft) -> Iterator[Flaw]:
    graph = {item.id: item.needs for item in reversed(draft.rubric) if item}  # of two, the first counts
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # Each element of the circle is needed by the next: told the other way round it reads "a needs b".
        circle = list(reversed(error.args[1]))
        index = next(n for n, item in enumerate(draft.rubric) if item and item.id == circle[0])
        yield Flaw(("rubric", index, "needs"), f"items need each other in a circle: {' → '.join(circle)}")


def _unknown_cases(draft: Draft) -> Iterator[Flaw]:
    if None in draft.cases:
        return  # what a case that could not be read is called nobody knows
    known = {name: None for case in draft.cases if case for name in (*case.tags, *_ids(case))}
    for index, item in enumerate(draft.rubric):
        for place, name in enumerate(item.cases if isinstance(item, CasesPart) else ()):
            if name not in known:
                message = f"no case has the tag or id `{name}`; {suggestion(name, known)}"
                yield Flaw(("rubric", index, "cases", place), message)


def _points(draft: Draft) -> Iterator[Flaw]:
    items = [item for item in draft.rubric if item]
    if not items or len(items) < len(draft.rubric):
        return
    if not any(item.points for item in items):
        yield Flaw(("rubric",), "expected points for at least one item; all have 0")
    elif not any(item.points for item in items if not (item.extra or item.penalty)):
        yield Flaw(("rubric",), "expected points for an item that is neither `extra` nor `penalty`; all are")


def _thresholds(draft: Draft) -> Iterator[Flaw]:
    for index, item in enumerate(draft.rubric):
        path = ("rubric", index)
        if isinstance(item, TrafficItem):
            yield from (Flaw((*path, *place), message) for place, message in _traffic_disorder(item))
        if isinstance(item, SpeedupItem):
            yield from (Flaw((*path, *place), message) for place, message in _disorder(item))
            if not draft.has_timing:
                yield Flaw((*path, "check"), "a speedup needs the section `timing`, which is missing")


def _looked_at_kernels(draft: Draft) -> Iterator[Flaw]:
    """Kernels that a `structure` item names and that no case launches."""
    if not isinstance(draft.submission, KernelPart) or None in draft.cases:
        return
    cases = (case for case in draft.cases if isinstance(case, FixedCase | RandomCases))
    known = {draft.submission.kernel: None, **{case.kernel: None for case in cases if case.kernel}}
    for index, item in enumerate(draft.rubric):
        if isinstance(item, StructureItem) and item.kernel is not None and item.kernel not in known:
            message = f"no case launches a kernel `{item.kernel}`; {suggestion(item.kernel, known)}"
            yield Flaw(("rubric", index, "kernel"), message)


def _disorder(item: SpeedupItem) -> Iterator[tuple[Path, str]]:
    """What does not grow in a `speedup` item, whether it has two ends or steps."""
    if item.none_below and item.full_at and is_below(item.full_at, item.none_below):
        yield ("none_below",), "expected at most what `full_at` says"
    if item.steps:
        for index, key, message in out_of_order((step.at, step.credit) for step in item.steps):
            yield ("steps", index, key), message


def _traffic_disorder(item: TrafficItem) -> Iterator[tuple[Path, str]]:
    """What does not fit together in a `traffic` item, however it says how much may be moved."""
    if item.none_above is not None and item.full_at is not None and item.full_at > item.none_above:
        yield ("full_at",), "expected at most what `none_above` says: less is better"
    if item.steps:
        for index, key, message in shares_out_of_order(item.credit()):
            yield ("steps", index, key), message
    ways = (("at_most", item.at_most), ("full_at", item.full_at), ("steps", item.credit()[-1:]))
    key, last = next((key, value) for key, value in ways if value is not None)
    least = last[0][0] if isinstance(last, tuple) else last
    if item.at_least is not None and item.at_least > least:
        said = "the last of `steps` says" if key == "steps" else f"`{key}` says"
        yield ("at_least",), f"expected at most what {said}"


def _baselines(draft: Draft, kernels: frozenset[str]) -> Iterator[Flaw]:
    named: list[tuple[Path, str]] = [
        (("rubric", index, "baseline"), item.baseline)
        for index, item in enumerate(draft.rubric)
        if isinstance(item, TrafficItem | SpeedupItem)
    ]
    if draft.timing:
        named.append((("timing", "baseline"), draft.timing.baseline))
        if draft.timing.solution is not None:
            named.append((("timing", "solution"), draft.timing.solution))
    for path, kernel in named:
        if kernel not in kernels:
            message = f"the reference has no kernel `{kernel}.cu`; {suggestion(kernel, sorted(kernels))}"
            yield Flaw(path, message)


def _timed_kernels(draft: Draft, kernels: frozenset[str]) -> Iterator[Flaw]:
    """Speedups over another kernel than the one that is timed, or relative to one that is not there."""
    timing = draft.timing
    for index, item in enumerate(draft.rubric):
        if not isinstance(item, SpeedupItem) or timing is None:
            continue
        path = ("rubric", index)
        if item.baseline in kernels and item.baseline != timing.baseline:
            message = f"expected `{timing.baseline}`, the baseline of `timing`: no other kernel is timed"
            yield Flaw((*path, "baseline"), message)
        if timing.solution is None and SOLUTION not in kernels:
            for place in _relative(item):
                message = f"a share of the model solution needs its kernel, and there is no `{SOLUTION}.cu`"
                yield Flaw((*path, *place), f"{message} in the reference; name it in `timing.solution`")


def _relative(item: SpeedupItem) -> Iterator[Path]:
    """Where an item asks for a share of what the model solution reaches."""
    places: list[tuple[Path, Threshold | None]] = [
        (("none_below",), item.none_below),
        (("full_at",), item.full_at),
        *((("steps", index, "at"), step.at) for index, step in enumerate(item.steps or ())),
    ]
    yield from (place for place, threshold in places if threshold and threshold.of_solution)
