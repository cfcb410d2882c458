"""What findings suggest: their mistakes (`causes`) with lines and arrays, and what to try."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.diagnosis.causes import ARRAY, IMPORTANCE, mistake_behind
from grader.diagnosis.compilation import compile_hint
from grader.diagnosis.facts import Diagnosis
from grader.diagnosis.surroundings import NOWHERE
from grader.mistakes import texts
from grader.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.diagnosis.surroundings import Surroundings
    from grader.mistakes import Texts
    from grader.model import CheckResult, Finding, Named

MOST_HINTS = 1
"""Hints at once: one idea is tried at a time, and what else is wrong shows the next time."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A mistake with the arrays and lines of all findings that it explains, in the order of the lines."""

    mistake: str
    arrays: tuple[str, ...]
    lines: tuple[int, ...]
    other_lines: tuple[int, ...]
    repairs: tuple[str, ...] = ()
    """What was tried and removes them."""

    @classmethod
    def of(cls, mistake: str, finding: Finding) -> Suspect:
        """What one finding suggests."""
        array = finding.array
        constants = (name for name, _ in finding.constants)
        return cls(
            mistake,
            (array,) if ARRAY.match(array) else tuple(constants),
            () if finding.line is None else (finding.line,),
            () if finding.other_line is None else (finding.other_line,),
            (finding.repair,) if finding.repair else (),
        )

    def joined(self, other: Suspect) -> Suspect | None:
        """Both in one, None where one repair would not do for both."""
        both = Suspect(
            self.mistake,
            tuple(dict.fromkeys(self.arrays + other.arrays)),
            tuple(sorted({*self.lines, *other.lines})),
            tuple(sorted({*self.other_lines, *other.other_lines})),
            tuple(dict.fromkeys(self.repairs + other.repairs)),
        )
        same = self.mistake == other.mistake and bool(self.other_lines) == bool(other.other_lines)
        return both if same and both._forward() == self._forward() == other._forward() else None

    def diagnosis(self, said: Texts) -> Diagnosis:
        """The mistake's texts with these names and lines."""
        found = said.mistake(self.mistake)
        arrays = _listed([f"`{name}`" for name in self.arrays], said)
        around = "around-line" if len(self.lines) == 1 else "around-lines"
        places = {
            "array": arrays or said.phrase("memory"),
            "at": _at(self.lines, said),
            "other_at": _at(self.other_lines, said),
            "between": self._between(said),
            "around": said.phrase(
                around if self.lines else "around-nothing", lines=_numbers(self.lines, said)
            ),
            "constants": arrays or said.phrase("the-block"),
        }
        explanation, hint = found.explanation.format(**places), found.hint.format(**places)
        if self.repairs:  # what was tried says more than what is usual
            hint = " ".join(f"{repair[:1].upper()}{repair[1:]}." for repair in self.repairs)
        read = said.pointer(found.concept)
        return Diagnosis(self.mistake, found.title, explanation, hint, found.concept, read)

    def _forward(self) -> bool:
        """Whether all first accesses stand above all second ones."""
        return bool(self.lines and self.other_lines) and self.other_lines[-1] < self.lines[0]

    def _between(self, said: Texts) -> str:
        """Where to put what is missing, in the order of the program."""
        if not self.lines or not self.other_lines:
            return said.phrase("between-accesses")
        first, second = self.other_lines[-1], self.lines[0]
        if first == second:
            return said.phrase("between-accesses-on", line=first)
        return said.phrase("between-lines" if first < second else "after-line", first=first, second=second)


def _at(lines: tuple[int, ...], said: Texts) -> str:
    """` on line 13`, ` on lines 13 and 14`."""
    if not lines:
        return ""
    return said.phrase("at-line" if len(lines) == 1 else "at-lines", lines=_numbers(lines, said))


def _numbers(lines: tuple[int, ...], said: Texts) -> str:
    return _listed([str(line) for line in lines], said)


def _listed(words: list[str], said: Texts) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return said.phrase("and").join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def explain_findings(
    findings: Iterable[Finding], feedback: Named[Named[str]] = (), around: Surroundings = NOWHERE
) -> tuple[Diagnosis, ...]:
    """Name the mistakes behind findings, the one to repair first in front, in the words of ``feedback``.

    Findings that one repair would end (both tiles loaded before the same missing barrier) make one diagnosis.
    """
    suspects: list[Suspect] = []
    for finding in findings:
        mistake = mistake_behind(finding, around)
        if mistake:
            _join(suspects, Suspect.of(mistake, finding))
    updates = {(each.arrays, each.lines) for each in suspects if each.mistake == "unsynchronised-update"}
    suspects = [s for s in suspects if s.mistake != "two-writers" or (s.arrays, s.lines) not in updates]
    rank = {mistake: place for place, mistake in enumerate(IMPORTANCE)}
    suspects.sort(key=lambda suspect: rank.get(suspect.mistake, len(rank)))
    said = texts(feedback)
    return tuple(suspect.diagnosis(said) for suspect in suspects)


def advise(
    results: Iterable[CheckResult], feedback: Named[Named[str]] = (), around: Surroundings = NOWHERE
) -> tuple[CheckResult, ...]:
    """Results with the hints that their findings suggest, in place of what the staff wrote for the item.

    ``feedback`` is what the staff say of mistakes (`grader.model.Assignment`), ``around`` what else is known
    of the submission. A hint that is not the staff's
    (a named mistake's) is specific already, and stays.
    """
    return tuple(_advised(result, feedback, around) for result in results)


def _join(suspects: list[Suspect], new: Suspect) -> None:
    """Add a suspect, or make it one with the first that the same repair would end."""
    for place, known in enumerate(suspects):
        both = known.joined(new)
        if both is not None:
            suspects[place] = both
            return
    suspects.append(new)


def _advised(result: CheckResult, feedback: Named[Named[str]], around: Surroundings) -> CheckResult:
    if result.verdict is not Verdict.FAIL or result.hint not in {"", result.item.hint}:
        return result
    compiling = compile_hint(result.findings)
    first = explain_findings(result.findings, feedback, around)[:MOST_HINTS]
    hints = [compiling, *(diagnosis.hint for diagnosis in first)]
    sentences = [hint[:1].upper() + hint[1:] for hint in dict.fromkeys(hints) if hint]
    reading = [diagnosis.read for diagnosis in first if diagnosis.read]
    return replace(result, hint=" ".join([*sentences, *dict.fromkeys(reading)]) or result.hint)
