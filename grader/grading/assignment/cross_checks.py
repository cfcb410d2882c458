"""Conditions between the parts of an assignment: ids, tags, `needs`, thresholds, baselines, questions.

`launching` looks at launches and shapes.
"""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from grader.base import arithmetic
from grader.base.arithmetic import ArithmeticProblem, exactly, names
from grader.base.text import suggestion
from grader.grading.assignment.bundled import SOLUTION
from grader.grading.assignment.document import Flaw, KeyPath
from grader.grading.assignment.execution import plan_ids
from grader.grading.assignment.structure import (
    FixedCase,
    FunctionPart,
    KernelPart,
    ProgramCase,
    ProgramPart,
    RandomCases,
)
from grader.grading.checks.array import ArrayCheck, KernelOutputCheck
from grader.grading.checks.speedup import SpeedupCheck
from grader.grading.checks.structure import MEASURED, StructureCheck
from grader.grading.checks.traffic import TrafficCheck
from grader.simulation.analysis import subjects as analysis
from grader.simulation.analysis.subjects import SUBJECTS, AnalysisProblem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from fractions import Fraction

    from grader.grading.assignment.draft import AnyCasePart, Draft
    from grader.grading.assignment.questions import QuestionPart, SettingPart
    from grader.grading.checks.check import Check


def cross_check_flaws(draft: Draft, kernels: frozenset[str] | None, *, has_oracle: bool) -> Iterator[Flaw]:
    """All that does not fit together.

    ``kernels`` are those in the reference folder, if there is one, ``has_oracle`` whether an oracle is there.
    """
    yield from _repeated_case_ids(draft)
    yield from _repeated_item_ids(draft)
    yield from _unknown_needs(draft)
    yield from _circular_needs(draft)
    yield from _unknown_cases(draft)
    yield from _points_to_earn(draft)
    yield from _thresholds(draft)
    yield from _looked_at_kernels(draft)
    yield from _structures(draft)
    yield from _traffic(draft)
    yield from _keys_of_programs_alone(draft)
    if kernels is not None:
        yield from _baselines(draft, kernels)
        yield from _timed_kernels(draft, kernels)
    if isinstance(draft.submission, ProgramPart):
        yield from _random_arrays(draft)
        yield from _unknown_sizes(draft, draft.submission)
    if isinstance(draft.submission, ProgramPart) and not has_oracle:
        yield from _arrays_without_an_oracle(draft)
    yield from _arrays_compared_twice(draft)


def _ids_of_case(case: AnyCasePart) -> tuple[str, ...]:
    if isinstance(case, RandomCases):
        return (case.id, *plan_ids(case.id, case.random))
    return (case.id,)


def _repeated_case_ids(draft: Draft) -> Iterator[Flaw]:
    owner: dict[str, int] = {}
    for index, case in enumerate(draft.cases):
        ids = _ids_of_case(case) if case else ()
        taken = next((name for name in ids if name in owner), None)
        if taken:
            message = f"expected an `id` of its own; `{taken}` is that of cases[{owner[taken]}] already"
            yield Flaw(("cases", index, "id"), message)
        owner = dict.fromkeys(ids, index) | owner
    for index, case in enumerate(draft.cases):
        for position, tag in enumerate(case.tags if case else ()):
            if tag in owner and case and tag != case.id:
                message = f"expected a tag that is no case's id; `{tag}` is that of cases[{owner[tag]}]"
                yield Flaw(("cases", index, "tags", position), message)


def _repeated_item_ids(draft: Draft) -> Iterator[Flaw]:
    indices: dict[str, int] = {}
    for index, item in enumerate(draft.rubric):
        if item and item.id in indices:
            message = (
                f"expected an `id` of its own; `{item.id}` is that of rubric[{indices[item.id]}] already"
            )
            yield Flaw(("rubric", index, "id"), message)
        elif item:
            indices[item.id] = index


def _unknown_needs(draft: Draft) -> Iterator[Flaw]:
    names = draft.item_ids
    for index, item in enumerate(draft.rubric):
        for position, needed in enumerate(item.needs if item else ()):
            if names is not None and needed not in names:
                message = f"no item is called `{needed}`; {suggestion(needed, sorted(names))}"
                yield Flaw(("rubric", index, "needs", position), message)


def _circular_needs(draft: Draft) -> Iterator[Flaw]:
    graph = {item.id: item.needs for item in reversed(draft.rubric) if item}  # of two, the first counts
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # Each element of the circle is needed by the next: in reverse order it reads "a needs b".
        circle = list(reversed(error.args[1]))
        index = next(n for n, item in enumerate(draft.rubric) if item and item.id == circle[0])
        yield Flaw(("rubric", index, "needs"), f"items need each other in a circle: {' → '.join(circle)}")


def _unknown_cases(draft: Draft) -> Iterator[Flaw]:
    if None in draft.cases:
        return  # the name of a case that could not be read is unknown
    names = {name: None for case in draft.cases if case for name in (*case.tags, *_ids_of_case(case))}
    for index, item in enumerate(draft.rubric):
        for position, name in enumerate(item.named_cases if item and item.CHECK.cases_key == "cases" else ()):
            if name not in names:
                message = f"no case has the tag or id `{name}`; {suggestion(name, names)}"
                yield Flaw(("rubric", index, "cases", position), message)


def _points_to_earn(draft: Draft) -> Iterator[Flaw]:
    items = [item for item in draft.rubric if item]
    if not items or len(items) < len(draft.rubric):
        return
    if not any(item.points for item in items):
        yield Flaw(("rubric",), "expected points for at least one item; all have 0")
    elif not any(item.points for item in items if not (item.extra or item.penalty)):
        yield Flaw(("rubric",), "expected points for an item that is neither `extra` nor `penalty`; all are")


def _checks(draft: Draft) -> Iterator[tuple[KeyPath, Check]]:
    """The sound items of the rubric, as checks with the keys that were written."""
    for index, item in enumerate(draft.rubric):
        if item:
            yield ("rubric", index), item.as_check()


def _thresholds(draft: Draft) -> Iterator[Flaw]:
    """Values that do not fit together inside of one item, and speedups without a timing."""
    for path, check in _checks(draft):
        yield from (Flaw((*path, *key_path), message) for key_path, message in check.disorder())
        if isinstance(check, SpeedupCheck) and not draft.has_timing:
            yield Flaw((*path, "check"), "a speedup needs the section `timing`, which is missing")


def _looked_at_kernels(draft: Draft) -> Iterator[Flaw]:
    """Kernels that an item names and that no case launches."""
    if not isinstance(draft.submission, KernelPart) or None in draft.cases:
        return
    cases = (case for case in draft.cases if isinstance(case, FixedCase | RandomCases))
    launched = {draft.submission.kernel: None, **{case.kernel: None for case in cases if case.kernel}}
    for path, check in _checks(draft):
        kernel = getattr(check, "kernel", None)
        if kernel is not None and kernel not in launched:
            message = f"no case launches a kernel `{kernel}`; {suggestion(kernel, launched)}"
            yield Flaw((*path, "kernel"), message)


def _baselines(draft: Draft, kernels: frozenset[str]) -> Iterator[Flaw]:
    mentions: list[tuple[KeyPath, str]] = [
        ((*path, "baseline"), baseline)
        for path, check in _checks(draft)
        if (baseline := getattr(check, "baseline", None))
    ]
    if draft.timing:
        mentions.append((("timing", "baseline"), draft.timing.baseline))
        if draft.timing.solution is not None:
            mentions.append((("timing", "solution"), draft.timing.solution))
    for path, kernel in mentions:
        if kernel not in kernels:
            message = f"the reference has no kernel `{kernel}.cu`; {suggestion(kernel, sorted(kernels))}"
            yield Flaw(path, message)


def _timed_kernels(draft: Draft, kernels: frozenset[str]) -> Iterator[Flaw]:
    """Speedups over another kernel than the one that is timed, or relative to one that is not there."""
    timing = draft.timing
    for path, check in _checks(draft):
        if not isinstance(check, SpeedupCheck) or timing is None:
            continue
        are_kernels = {check.baseline, timing.baseline} <= kernels  # what is none is reported by itself
        if are_kernels and check.baseline != timing.baseline:
            message = f"expected `{timing.baseline}`, the baseline of `timing`: no other kernel is timed"
            yield Flaw((*path, "baseline"), message)
        if timing.solution is None and SOLUTION not in kernels:
            for key_path in check.shares_of_solution():
                message = f"a share of the model solution needs its kernel, and there is no `{SOLUTION}.cu`"
                yield Flaw((*path, *key_path), f"{message} in the reference; name it in `timing.solution`")


def _structures(draft: Draft) -> Iterator[Flaw]:
    """Items about how kernels are built that do not name a kernel, or ask for unknown properties."""
    if not isinstance(draft.submission, ProgramPart | FunctionPart):
        return
    for path, check in _checks(draft):
        if not isinstance(check, StructureCheck):
            continue
        if check.kernel is None:
            yield Flaw(
                (*path, "check"), "expected a key `kernel`, which says how one of its kernels is called"
            )
        for name in MEASURED:
            if name in dict(check.require):
                message = f"`{name}` is for submissions of kind `kernel`"
                yield Flaw((*path, "require", name), message, at_key=True)


def _traffic(draft: Draft) -> Iterator[Flaw]:
    """Items about traffic that name a kernel where each case launches one, or sizes that a case lacks."""
    for path, check in _checks(draft):
        if not isinstance(check, TrafficCheck):
            continue
        if check.kernel is not None and isinstance(draft.submission, KernelPart):
            message = "expected none: `cases` says which launches count, each of one kernel"
            yield Flaw((*path, "kernel"), message, at_key=True)
        for case in draft.cases if check.of else ():
            sizes = dict(getattr(case, "shape", None) or {})
            missing = sorted(arithmetic.names(arithmetic.parse(check.of or "")) - set(sizes))
            if case and _looks_at(check, case) and missing:
                hint = suggestion(missing[0], sizes) if sizes else "it has none"
                yield Flaw((*path, "of"), f"`{missing[0]}` is no size of case `{case.id}`; {hint}")
                break


def _keys_of_programs_alone(draft: Draft) -> Iterator[Flaw]:
    """A function's cases have shapes, and it writes no files: no item has a shape or a file of its own."""
    if not isinstance(draft.submission, FunctionPart):
        return
    for path, check in _checks(draft):
        if isinstance(check, KernelOutputCheck) and check.shape is not None:
            yield Flaw((*path, "shape"), "expected none: the cases of a function have shapes", at_key=True)
        if isinstance(check, KernelOutputCheck) and check.of is not None:
            yield Flaw((*path, "of"), "expected none: a function writes no file", at_key=True)


def _random_arrays(draft: Draft) -> Iterator[Flaw]:
    """Files without a shape, shapes that two say, and files that would be taken for the program's own."""
    cases = [(index, case) for index, case in enumerate(draft.cases) if isinstance(case, ProgramCase)]
    for index, case in cases:
        if case.files and not case.shape:
            yield Flaw(("cases", index, "files"), "expected a key `shape`, for which the arrays are drawn")
    for path, check in _checks(draft):
        written = getattr(check, "of", "")
        looked_at = [(i, case) for i, case in cases if _looks_at(check, case)]
        for index, case in looked_at:
            if written in case.files:
                message = f"expected a name of its own: `{written}` is what the program is to write"
                yield Flaw(("cases", index, "files", written), message, at_key=True)
        if not isinstance(check, ArrayCheck | KernelOutputCheck):
            continue
        without = next((case.id for _, case in looked_at if not case.shape), None)
        having = next((case.id for _, case in looked_at if case.shape), None)
        if check.shape is None and without is not None:
            message = f"expected `shape` and `inputs`, here or in case `{without}`"
            yield Flaw((*path, "check"), message)
        if check.shape is not None and having is not None:
            yield Flaw((*path, "shape"), f"case `{having}` has a shape of its own; expected only one of both")


def _unknown_sizes(draft: Draft, submission: ProgramPart) -> Iterator[Flaw]:
    """Sizes of a case that the submission does not have: no file would define them."""
    for index, case in enumerate(draft.cases):
        for name in case.sizes if isinstance(case, ProgramCase) else ():
            if name not in submission.sizes:
                hint = suggestion(name, submission.sizes) if submission.sizes else "it has none"
                message = f"expected one of `sizes` of the submission; `{name}` is none; {hint}"
                yield Flaw(("cases", index, "sizes", name), message, at_key=True)


def _looks_at(check: Check, case: AnyCasePart) -> bool:
    """True if an item looks at a case."""
    return not check.item.cases or bool({case.id, *case.tags} & set(check.item.cases))


def _arrays_without_an_oracle(draft: Draft) -> Iterator[Flaw]:
    for index, case in enumerate(draft.cases):
        if isinstance(case, ProgramCase) and case.files:
            message = "arrays are drawn by an oracle: expected a key `reference` with a folder that has one"
            yield Flaw(("cases", index, "files"), message)
    for index, item in enumerate(draft.rubric):
        if item is None or item.CHECK not in (ArrayCheck, KernelOutputCheck):
            continue
        if draft.reference is None:
            message = "an array is compared with what an oracle computes: expected a key `reference`"
        else:
            message = f"expected a file reference/{draft.reference}/oracle.py, which computes the array"
        yield Flaw(("rubric", index, "check"), message)


def _arrays_compared_twice(draft: Draft) -> Iterator[Flaw]:
    """A case has one comparison for each output."""
    owner: dict[tuple[str, str], int] = {}
    for index, item in enumerate(draft.rubric):
        check = item.as_check() if item else None
        if not isinstance(check, ArrayCheck | KernelOutputCheck):
            continue
        looked_at = {
            case.id
            for case in draft.cases
            if case and (not check.item.cases or {case.id, *case.tags} & set(check.item.cases))
        }
        pairs = [(case, name) for name in check.arrays for case in sorted(looked_at)]
        taken = next((pair for pair in pairs if pair in owner), None)
        if taken:
            message = f"`{taken[1]}` of case `{taken[0]}` is compared by rubric[{owner[taken]}] already"
            yield Flaw(("rubric", index, "output"), message)
        owner = dict.fromkeys(pairs, index) | owner


# --- between the parts of an assignment that asks questions --------------------------------------

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
"""``{M}`` in a question's text."""


def question_flaws(draft: Draft) -> Iterator[Flaw]:
    """All that does not fit together."""
    sound: dict[str, SettingPart] = {}
    for name, setting in draft.settings.items():
        written = list(_setting_flaws(name, setting)) if setting else []
        yield from written
        if setting and not written:
            sound[name] = setting
    yield from _repeated_ids(draft)
    for index, question in enumerate(draft.questions):
        if question and question.of not in draft.settings:
            hint = suggestion(question.of, draft.settings)
            yield Flaw(("questions", index, "of"), f"there is no setting `{question.of}`; {hint}")
        elif question and question.of in sound:
            yield from _flaws_of_question(index, question, sound[question.of])
    yield from _item_flaws(draft)


def _corners(setting: SettingPart) -> list[dict[str, int]]:
    """The numbers at their lowest and at their highest."""
    numbers = setting.given.items()
    return [{name: low for name, (low, _, _) in numbers}, {name: high for name, (_, high, _) in numbers}]


def _setting_flaws(name: str, setting: SettingPart) -> Iterator[Flaw]:
    """Numbers that are missing, unknown or out of range; a choice is looked at one by one."""
    subject = SUBJECTS[setting.subject]
    path = ("settings", name, setting.subject)
    lowest = _corners(setting)[0]
    try:
        for numbers in _corners(setting):
            analysis.parameters(subject, numbers)
        for key, (_, _, choices) in setting.given.items():
            for choice in choices:
                subject.situation(analysis.parameters(subject, {**lowest, key: choice}))
        subject.situation(analysis.parameters(subject, lowest))
    except AnalysisProblem as problem:
        yield Flaw(path, str(problem))


def _repeated_ids(draft: Draft) -> Iterator[Flaw]:
    indices: dict[str, int] = {}
    for index, question in enumerate(draft.questions):
        if question and question.id in indices:
            other = f"questions[{indices[question.id]}]"
            message = f"expected an `id` of its own; `{question.id}` is that of {other} already"
            yield Flaw(("questions", index, "id"), message)
        elif question:
            indices[question.id] = index


def _flaws_of_question(index: int, question: QuestionPart, setting: SettingPart) -> Iterator[Flaw]:
    subject, path = SUBJECTS[setting.subject], ("questions", index)
    values = analysis.parameters(subject, _corners(setting)[0])
    for word in PLACEHOLDER.findall(question.text):
        if word not in values:
            message = f"`{{{word}}}` is no number of the setting `{question.of}`; {suggestion(word, values)}"
            yield Flaw((*path, "text"), message)
    allowed = analysis.quantity_names(subject, values)
    unknown = sorted(names(question.answer) - set(allowed))
    for word in unknown:
        message = f"`{word}` is no quantity or number of a {setting.subject}; {suggestion(word, allowed)}"
        yield Flaw((*path, "answer"), message)
    if not unknown:
        yield from _computed(path, question, setting)


def _computed(path: tuple[str | int, ...], question: QuestionPart, setting: SettingPart) -> Iterator[Flaw]:
    """An answer that has no value for some of the numbers."""
    for numbers in _corners(setting):
        try:
            exactly(question.answer, _values(question, setting.subject, numbers))
        except (ArithmeticProblem, AnalysisProblem) as problem:
            assumptions = ", ".join(f"{name} = {number}" for name, number in numbers.items())
            yield Flaw((*path, "answer"), f"with {assumptions}: {problem}")
            return


def _values(question: QuestionPart, subject: str, numbers: Mapping[str, int]) -> dict[str, Fraction]:
    return {name: analysis.value(SUBJECTS[subject], numbers, name) for name in names(question.answer)}


def _item_flaws(draft: Draft) -> Iterator[Flaw]:
    """Questions that do not exist, that are asked for twice, or that no item asks for."""
    if None in draft.questions:
        return
    ids = [question.id for question in draft.questions if question]
    owner: dict[str, int] = {}
    for index, item in enumerate(draft.rubric):
        if item is None or item.CHECK.cases_key != "questions":
            continue
        for position, name in enumerate(item.named_cases):
            path = ("rubric", index, "questions", position)
            if name not in ids:
                yield Flaw(path, f"there is no question `{name}`; {suggestion(name, ids)}")
            elif name in owner:
                yield Flaw(path, f"rubric[{owner[name]}] gives points for `{name}` already")
            owner.setdefault(name, index)
    if None not in draft.rubric:
        for index, name in enumerate(ids):
            if name not in owner:
                yield Flaw(("questions", index), f"no item of the rubric gives points for `{name}`")
