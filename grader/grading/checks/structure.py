"""`structure`: the parts of the kernel, by its instructions and by what it takes, never by its text.

The instructions are those of the default build, in the kernel and in the functions that it calls: what the
compiler removed is not there, and what no case executes does not count. Registers and shared memory are what
ptxas says (shared memory that a launch asks for is not among it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from grader.base.errors import OurError
from grader.base.records import frozen
from grader.grading.checks import wording
from grader.grading.checks.cases import FULL, NOTHING, error_result, question_in, question_result
from grader.grading.checks.check import Check, key
from grader.model import CheckResult, Finding, FindingKind, InstructionUse, Verdict
from grader.model.messages import text_of

if TYPE_CHECKING:
    from grader.model import CaseEvidence, Evidence, Named, Resources, Structure

MOST_NAMED = 4
"""Lines, or libraries, that a message names."""

USES = {
    "uses_shared_memory": "shared-memory",
    "uses_barriers": "barriers",
    "uses_atomics": "atomics",
    "uses_shuffles": "shuffles",
    "uses_constant_memory": "constant-memory",
}
"""The text for the thing that is asked for."""

_NEVER = {"uses_shared_memory": "never-loaded-again", "uses_constant_memory": "never-loaded"}
"""Texts for a thing that is there and not used; the others are not executed."""


MEASURED = ("max_registers", "max_shared_bytes")
"""Resources that ptxas reports; it is not asked about the kernels of a program."""


class Fact(NamedTuple):
    """One requirement: whether it is met, what is the case as a predicate, and the line to look at."""

    met: bool
    clause: str
    line: int | None = None


@frozen(kw_only=True)
class StructureCheck(Check):
    """Structure of a kernel: its instructions that are executed, and the resources that it takes."""

    name: ClassVar[str] = "structure"
    title: ClassVar[str] = "how it is built"
    kinds: ClassVar[tuple[str, ...]] = ("kernel", "program", "function")
    whole_submission: ClassVar[bool] = True
    style: ClassVar[bool] = True
    cases_key: ClassVar[str] = ""
    require: Named[int] = key("Requirements")
    kernel: str | None = key("KernelName", None)

    def judge(self, evidence: Evidence) -> CheckResult:
        """Compare what is required with the facts; all of it must be met."""
        build = evidence.build
        if build.error:
            return error_result(self.item, build.error)
        if not build.ok:
            message = text_of("not-looked-at-without-build")
            return CheckResult(self.item, Verdict.FAIL, NOTHING, message)
        name = self.kernel or ""
        structures, others = dict(evidence.structures), dict(build.others)
        structure = structures.get(name) if name else next(iter(structures.values()), None)
        resources = others[name].resources if name in others else build.resources
        if structure is None or (resources is None and not build.program):
            return self._not_looked_at(evidence)
        facts = [_fact(key, value, structure, resources) for key, value in self.require]
        unmet = [fact for fact in facts if not fact.met]
        if not unmet:
            return CheckResult(self.item, Verdict.PASS, FULL, _sentence(name, _clauses_in_line(facts)))
        question = question_in(evidence.cases)
        if question:
            return question_result(self.item, question)
        findings = tuple(
            Finding(FindingKind.STRUCTURE, _sentence(name, fact.clause), file=structure.file, line=fact.line)
            for fact in unmet
        )
        message = _sentence(name, text_of("and-it").join(fact.clause for fact in unmet))
        return CheckResult(self.item, Verdict.FAIL, NOTHING, message, hint=self.item.hint, findings=findings)

    def _not_looked_at(self, evidence: Evidence) -> CheckResult:
        """The result where there are no instructions to look at: the student's doing, or ours."""
        if any(_by_hand(case) for case in evidence.cases):
            message, hint = text_of("not-looked-at-by-hand"), ""
        elif question_in(evidence.cases):
            return question_result(self.item, question_in(evidence.cases))
        elif evidence.build.program and not any(case.error for case in evidence.cases):
            message = text_of("named-kernel-never-ran", name=wording.printable(self.kernel or ""))
            hint = self.item.hint
        else:
            return error_result(self.item, "the instructions of the kernel were not looked at")
        return CheckResult(self.item, Verdict.FAIL, NOTHING, message, hint=hint)


def _by_hand(case: CaseEvidence) -> bool:
    """True if an instruction of the student's own kept the case from being run."""
    return any(finding.kind is FindingKind.UNSUPPORTED for finding in case.findings)


def _sentence(name: str, clauses: str) -> str:
    """A sentence about the kernel, by its name where there are several."""
    if not name:
        return text_of("the-kernel", clauses=clauses)
    return text_of("the-named-kernel", name=wording.printable(name), clauses=clauses)


def _clauses_in_line(facts: list[Fact]) -> str:
    """`uses shared memory, calls no library and takes 40 registers per thread`."""
    clauses = [fact.clause for fact in facts]
    return text_of("and").join(filter(None, (", ".join(clauses[:-1]), clauses[-1])))


def _fact(key: str, value: int, structure: Structure, resources: Resources | None) -> Fact:
    """One requirement of the item, looked up; ``value`` is a limit, or whether a thing is wanted."""
    if key in MEASURED:
        return _measured(key, value, resources)
    if key == "no_library_calls":
        return _library(structure, wanted=not value)
    use = _use(key, structure)
    clause = _uses(key, use) if use.counts else _unused(key, structure, use)
    if use.counts == bool(value):
        return Fact(met=True, clause=clause)
    wanted = "its-use-asked-for" if use.count else "asked-for"
    clause = text_of(wanted if value else "must-not", clause=clause)
    return Fact(met=False, clause=clause, line=next(iter(use.lines), None))


def _measured(key: str, value: int, resources: Resources | None) -> Fact:
    """Limit on a resource that the kernel takes by ptxas; raises OurError where ptxas was not asked."""
    if resources is None:
        raise OurError(f"what kernels of a program take is not known: `{key}`")
    if key == "max_registers":
        taken = text_of("takes-registers", count=resources.registers)
        return _at_most(taken, value, resources.registers)
    taken = text_of("takes-shared-bytes", count=resources.shared_bytes)
    return _at_most(taken, value, resources.shared_bytes)


def _uses(key: str, use: InstructionUse) -> str:
    return text_of("uses", use=text_of(USES[key]), at=_on_lines(use))


def _at_most(clause: str, limit: int, number: int) -> Fact:
    return Fact(
        number <= limit, clause if number <= limit else text_of("too-many", clause=clause, limit=limit)
    )


def _library(structure: Structure, *, wanted: bool) -> Fact:
    """Functions of a library, and of whose headers the code is."""
    names = [f"`{wording.printable(name)}`" for name, _ in structure.library]
    lines = sorted({line for _, use in structure.library for line in use.lines})
    more = text_of("more-names", number=len(names) - MOST_NAMED) if len(names) > MOST_NAMED else ""
    if not names:
        clause = text_of("no-library")
        return Fact(not wanted, text_of("asked-for", clause=clause) if wanted else clause)
    at = _on_lines(InstructionUse(len(lines), tuple(lines)))
    clause = text_of("library", names=", ".join(names[:MOST_NAMED]), more=more, at=at)
    line = next(iter(lines), None)
    return Fact(wanted, clause if wanted else text_of("must-do-without", clause=clause), line)


def _use(key: str, structure: Structure) -> InstructionUse:
    """Uses of a thing; shared memory is used where something is stored there and loaded again."""
    uses = {
        "uses_barriers": structure.barriers,
        "uses_atomics": structure.atomics,
        "uses_shuffles": structure.shuffles,
        "uses_constant_memory": structure.constant_loads,
    }
    if key in uses:
        return uses[key]
    loads, stores = structure.shared_loads, structure.shared_stores
    if not (loads.count and stores.count):
        return InstructionUse()
    executed = 2 if loads.counts and stores.counts else 0
    return InstructionUse(loads.count + stores.count, tuple(sorted({*loads.lines, *stores.lines})), executed)


def _unused(key: str, structure: Structure, use: InstructionUse) -> str:
    """Clause that a thing is missing: never executed, or with shared memory only half used."""
    if use.count:
        return text_of(_NEVER.get(key, "never-executed"), use=text_of(USES[key]), at=_on_lines(use))
    if key == "uses_shared_memory" and structure.shared_loads.count:
        return text_of("loads-only")
    if key == "uses_shared_memory" and structure.shared_stores.count:
        return text_of("stores-only")
    return text_of("uses-no", use=text_of(USES[key]))


def _on_lines(use: InstructionUse) -> str:
    """` on lines 12 and 18`, of what is known."""
    shown = [str(line) for line in use.lines[:MOST_NAMED]]
    if not shown:
        return ""
    if use.lines[MOST_NAMED:]:
        return text_of("on-many-lines", lines=", ".join(shown))
    lines = text_of("and").join(filter(None, (", ".join(shown[:-1]), shown[-1])))
    return text_of("on-lines", count=len(shown), lines=lines)
