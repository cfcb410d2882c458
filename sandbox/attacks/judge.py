"""Judgement of an attack: the grade and its traces are compared with the table of attacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from attacks.table import COMPILES, DOES_NOT_COMPILE
from grader.model import FindingCode, Verdict
from grader.reports import grade_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from attacks.table import Attack
    from grader.model import CaseEvidence, Grade
    from grader.toolchain.sandbox import Result

_REACHED, _TRIED = b"reached: ", b"tried: "
_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Trial:
    """One grading of an attack: its grade, and all that came out of the sandbox meanwhile."""

    attack: Attack
    grade: Grade
    results: tuple[Result, ...]
    seconds: float

    @property
    def ended(self) -> str:
        """End of the attack: in the compiler, or else as its run did (not as a look at the GPU after it)."""
        compiled = next(item.result for item in self.grade.items if item.result.item.check == "compile")
        if compiled.verdict is not Verdict.PASS:
            return DOES_NOT_COMPILE
        if self.attack.is_kernel:
            return COMPILES
        endings = (case.ending for case in self.grade.cases if case.ending)
        return next(endings, self.last.outcome.status.value)

    @property
    def last(self) -> Result:
        """The result of the job that was last: the run, where there was one."""
        return self.results[-1]


def complaints(trial: Trial, canary: str) -> Iterator[str]:
    """Complaints, a sentence each; none where the attack was contained."""
    attack, ended = trial.attack, trial.ended
    if trial.grade.error:
        yield f"an error of ours: {trial.grade.error[:_SHOWN]}"
        return
    yield from _reached(trial)
    yield from _leaks(trial, canary)
    if attack.device:
        yield from _refusals(trial)
    elif ended not in attack.ends:
        yield f"ended by {ended}, expected {' or '.join(sorted(attack.ends))}"
    elif ended == "exit" and _TRIED not in trial.last.outcome.stdout:
        yield "it ended well without having tried anything"
    got = trial.grade.verdict.value
    if attack.verdict not in (got, "either"):
        yield f"its grade is {got}, expected {attack.verdict}"


def _refusals(trial: Trial) -> Iterator[str]:
    """Complaints about attacks on the device: each is refused for its reason, or goes on."""
    cases = {case.case.id: case for case in trial.grade.evidence.cases} if trial.grade.evidence else {}
    for name, reason in trial.attack.device:
        if name not in cases:
            yield f"{name}: it never ran ({trial.grade.error[:_SHOWN]})"
            continue
        error, run = _refused(cases[name]), cases[name].program
        ending = run.ending if run else "nothing"
        if reason not in error or bool(reason) is not bool(error):
            yield f"{name}: ended by {error[:_SHOWN] or ending}, expected {reason or 'no error'}"
        elif not reason and ending not in trial.attack.ends:
            yield f"{name}: ended by {ending}, expected {' or '.join(sorted(trial.attack.ends))}"
        elif not reason and run and ending == "exit" and _TRIED not in run.stdout:
            yield f"{name}: it ended well without having tried anything"


def _refused(case: CaseEvidence) -> str:
    """Reason for which the device has ended the conversation with a program; empty where it has not."""
    forged = (f for f in case.findings if f.code is FindingCode.HOST_FORGED_MESSAGE)
    return next((str(dict(finding.details)["problem"]) for finding in forged), "")


def _reached(trial: Trial) -> Iterator[str]:
    """Lines in which the attack prints what it got hold of."""
    for result in trial.results:
        for line in result.outcome.stdout.splitlines():
            if line.startswith(_REACHED):
                yield _harmless(line)


def _leaks(trial: Trial, canary: str) -> Iterator[str]:
    """Places at which a canary's text is in the grade; its number alone is enough."""
    number = canary.partition(":")[2]
    digits = number.encode()
    for result in trial.results:
        streams = (("standard output", result.outcome.stdout), ("standard error", result.outcome.stderr))
        for name, content in (*streams, *result.files):
            if digits in content:
                yield f"a canary came back in {name}"
    if number in grade_json.dump(trial.grade):
        yield "a canary came back in the grade"


def _harmless(line: bytes) -> str:
    return "".join(c if c.isprintable() else "?" for c in line[:_SHOWN].decode(errors="replace"))
