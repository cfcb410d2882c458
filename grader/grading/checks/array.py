"""`array` and `kernel-output`: what a program leaves in a file or in memory is what the oracle computes.

Both were compared before (`grader.kinds.comparing.arrays`): a program's own word about its result counts
nothing here. `array` looks at an ``.npy`` file; one that is not there, or no such array, is a finding about
the output. Of `kernel-output` the oracle is given what was in device memory when the kernel was launched;
what the program prints of its result, or writes to a file, counts nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from grader.base.records import frozen
from grader.grading.checks import wording
from grader.grading.checks.cases import no_verdict_reason, verdict_where_given_up
from grader.grading.checks.check import Check, key
from grader.grading.checks.output import element_sentence
from grader.grading.checks.program_cases import RIGHT, RunVerdict, ended_early, failed, judge_cases
from grader.model import UNKNOWN_AUTHOR, FindingKind, Verdict
from grader.model.messages import current, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.grading.checks.check import Disorder
    from grader.model import CaseEvidence, CheckResult, Clause, Comparison, Evidence, Named, ProgramRun


@frozen(kw_only=True)
class ArrayCheck(Check):
    """An ``.npy`` file that it writes holds what the oracle computes.

    For ``shape`` and ``inputs``, or, without them, for those of the case, whose arrays the program finds.
    """

    name: ClassVar[str] = "array"
    title: ClassVar[str] = "the array that it writes"
    kinds: ClassVar[tuple[str, ...]] = ("program",)
    partial: ClassVar[tuple[str, ...]] = ("per-case",)
    of: str = key("ArrayFile")
    output: str = key("Name")
    dtype: str = key("Dtype")
    shape: Named[int] | None = key("Shape", None)
    inputs: str | None = key("Identifier", None)

    def contradiction(self) -> tuple[str, str] | None:
        """A shape goes with the kind of inputs that have it."""
        return shape_without_inputs(self.shape, self.inputs)

    @property
    def arrays(self) -> tuple[str, ...]:
        """The output, which the assignment names."""
        return (self.output,)

    def judge(self, evidence: Evidence) -> CheckResult:
        """Judge the array that the runs of the item's cases left."""
        return judge_cases(self.item, evidence, lambda case, run: judge_file(case, run, self.output))


def shape_without_inputs(shape: Named[int] | None, inputs: str | None) -> tuple[str, str] | None:
    """The key that is missing where an item has only one of both; None where it has both or neither."""
    if (shape is None) == (inputs is None):
        return None
    missing, given = ("shape", "inputs") if shape is None else ("inputs", "shape")
    return given, f"expected `{missing}`, too: an item has both of its own, or those of its cases"


def judge_array(case: CaseEvidence, run: ProgramRun, output: str) -> RunVerdict:
    """Verdict on a run that came to its end, from the comparison of an array, or a finding about it."""
    early = ended_early(run)
    if early is not None:
        return early
    about_it = (finding for finding in case.findings if finding.address == output)
    malformed = next((finding for finding in about_it if finding.kind is FindingKind.WRONG_OUTPUT), None)
    if malformed is not None:
        verdict = failed(text_of("no-array", output=output), wording.printable(malformed.message))
        return replace(verdict, stands=bool(malformed.hazard))
    compared = next((comparison for comparison in case.comparisons if comparison.array == output), None)
    if compared is None and case.undecided:
        reason = no_verdict_reason(case) or case.undecided[0][1]
        return RunVerdict(verdict_where_given_up(case), reason)
    if compared is None:
        return RunVerdict(Verdict.ERROR, text_of("array-not-compared", output=output))
    if compared.wrong:
        return _wrong(compared)
    return _unknown(UNKNOWN_AUTHOR) if compared.unproved else RIGHT


def judge_file(case: CaseEvidence, run: ProgramRun, output: str) -> RunVerdict:
    """Verdict on an array in a file: right only where the host has not computed it."""
    verdict = judge_array(case, run, output)
    if verdict != RIGHT or case.computed_by is None:
        return verdict
    if not case.of_host:
        return _unknown(case.computed_by)
    shown = current().clause(case.computed_by)
    verdict = failed(text_of("computed-on-host"), text_of("computed-on-host-because", shown=shown))
    return replace(verdict, stands=True)


def _unknown(reason: Clause) -> RunVerdict:
    """A right array of which it is not known who has computed it."""
    return RunVerdict(Verdict.ERROR, current().clause(reason), stands=True)


def _wrong(compared: Comparison) -> RunVerdict:
    """The first wrong element, and the mistake that explains all of them where there is one."""
    sentence, reason = element_sentence(compared), compared.explanation
    if not reason:
        verdict = failed(text_of("array-wrong", array=compared.array), sentence)
    else:
        verdict = failed(reason, text_of("array-and-why", sentence=sentence, reason=reason))
    return replace(verdict, compared=compared)


@frozen(kw_only=True)
class KernelOutputCheck(Check):
    """The last launch of ``kernel`` computes what the oracle computes of the same arrays.

    ``arguments`` are the oracle's names of the kernel's first parameters, in their order. Without ``shape``
    and ``inputs`` those of the case count. With ``of`` the program must also have written the same array to
    that file.
    """

    name: ClassVar[str] = "kernel-output"
    title: ClassVar[str] = "what a kernel computes"
    kinds: ClassVar[tuple[str, ...]] = ("program", "function")
    partial: ClassVar[tuple[str, ...]] = ("per-case",)
    kernel: str = key("KernelName")
    arguments: tuple[str, ...] = key("Names")
    output: str = key("Name")
    dtype: str = key("Dtype")
    shape: Named[int] | None = key("Shape", None)
    inputs: str | None = key("Identifier", None)
    of: str | None = key("ArrayFile", None)

    @property
    def compared_as(self) -> str:
        """Name of the array in comparisons and findings."""
        return f"{self.kernel}.{self.output}"

    def contradiction(self) -> tuple[str, str] | None:
        """A shape goes with the kind of inputs that have it."""
        return shape_without_inputs(self.shape, self.inputs)

    @property
    def arrays(self) -> tuple[str, ...]:
        """The output, which the assignment names, in device memory and in the file."""
        return (self.compared_as,) if self.of is None else (self.compared_as, self.output)

    def disorder(self) -> Iterator[Disorder]:
        """Each argument has a name of its own, and the output is one of them."""
        for position, name in enumerate(self.arguments):
            if self.arguments.index(name) != position:
                yield ("arguments", position), f"`{name}` is there already"
        if self.output not in self.arguments:
            yield ("output",), f"expected one of {', '.join(f'`{name}`' for name in self.arguments)}"

    def judge(self, evidence: Evidence) -> CheckResult:
        """Judge the arrays that the item's cases left, first that of the launches, then that in the file."""
        return judge_cases(self.item, evidence, self._judge_arrays)

    def _judge_arrays(self, case: CaseEvidence, run: ProgramRun) -> RunVerdict:
        left = judge_array(case, run, self.compared_as)
        if left != RIGHT or self.of is None:
            return left
        return judge_file(case, run, self.output)
