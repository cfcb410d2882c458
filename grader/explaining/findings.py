"""Mistakes that findings suggest (`causes`), with lines and arrays, and what to try.

A compiler's message says what is wrong, but often not what to do about it: `compile_hint` does.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.base.text import capital, placeholders
from grader.explaining.causes import ARRAY_NAME, NO_CONTEXT, mistake_behind
from grader.explaining.facts import Diagnosis
from grader.explaining.mistakes_of_findings import position
from grader.model import FindingCode, FindingKind, Severity, Verdict
from grader.model.messages import text_of
from grader.model.mistakes import texts_of_course

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.explaining.causes import SubmissionContext
    from grader.model import CheckResult, Finding, Named
    from grader.model.mistakes import Texts

MOST_HINTS = 1
"""Hints at once: one idea is tried at a time, and what else is wrong shows the next time."""

_MOST_LINES = 8
"""Lines that a sentence names."""

LINES = frozenset({"at", "other_at", "around", "between"})
"""Placeholders of an explanation that name its lines."""


@frozen
class Suspect:
    """A mistake with the arrays and lines of all findings that it explains, in the order of the lines."""

    mistake: str
    arrays: tuple[str, ...]
    lines: tuple[int, ...]
    other_lines: tuple[int, ...]
    repairs: tuple[str, ...] = ()
    """Repairs that were tried and remove the findings."""
    phrase: str = "memory"
    """Phrase used where no array has a name, by its name."""

    @classmethod
    def of(cls, mistake: str, finding: Finding) -> Suspect:
        """Suspect that one finding suggests."""
        array = finding.array.partition("#")[0]  # of several allocations on one line, all have its name
        in_shared = finding.access is not None and finding.access.space == "shared"
        constants = (name for name, _ in finding.constants)
        return cls(
            mistake,
            (array,) if ARRAY_NAME.match(array) else tuple(constants),
            () if finding.line is None else (finding.line,),
            () if finding.other_line is None else (finding.other_line,),
            (finding.repair,) if finding.repair else (),
            "shared-memory" if in_shared else "memory",
        )

    def joined(self, other: Suspect) -> Suspect | None:
        """Both in one, None where one repair would not do for both."""
        both = Suspect(
            self.mistake,
            tuple(dict.fromkeys(self.arrays + other.arrays)),
            tuple(sorted({*self.lines, *other.lines})),
            tuple(sorted({*self.other_lines, *other.other_lines})),
            tuple(dict.fromkeys(self.repairs + other.repairs)),
            self.phrase,
        )
        same = self.mistake == other.mistake and bool(self.other_lines) == bool(other.other_lines)
        return both if same and both._forward() == self._forward() == other._forward() else None

    def diagnosis(self, course_texts: Texts) -> Diagnosis:
        """The mistake's texts with these names and lines."""
        mistake_texts = course_texts.mistake(self.mistake)
        arrays = _joined_names([f"`{name}`" for name in self.arrays], course_texts)
        phrase_around = "around-line" if len(self.lines) == 1 else "around-lines"
        names_in_text = {
            "array": arrays or course_texts.phrase(self.phrase),
            "at": _at_lines(self.lines, course_texts),
            "other_at": _at_lines(self.other_lines, course_texts),
            "between": self._between(course_texts),
            "around": course_texts.phrase(
                phrase_around if self.lines else "around-nothing",
                lines=_line_numbers(self.lines, course_texts),
            ),
            "constants": arrays or course_texts.phrase("the-block"),
        }
        explanation, hint = (
            mistake_texts.explanation.format(**names_in_text),
            mistake_texts.hint.format(**names_in_text),
        )
        if self.repairs:  # what was tried says more than what is usual
            hint = " ".join(f"{capital(repair)}." for repair in self.repairs)
        read = course_texts.pointer(mistake_texts.concept)
        return Diagnosis(
            self.mistake,
            mistake_texts.title,
            explanation,
            hint,
            mistake_texts.concept,
            read,
            names_line=bool(self.lines) and not LINES.isdisjoint(placeholders(mistake_texts.explanation)),
        )

    def _forward(self) -> bool:
        """True if all first accesses stand above all second ones."""
        return bool(self.lines and self.other_lines) and self.other_lines[-1] < self.lines[0]

    def _between(self, course_texts: Texts) -> str:
        """Place to insert what is missing, in the order of the program."""
        if not self.lines or not self.other_lines:
            return course_texts.phrase("between-accesses")
        first, second = self.other_lines[-1], self.lines[0]
        if first == second:
            return course_texts.phrase("between-accesses-on", line=first)
        return course_texts.phrase(
            "between-lines" if first < second else "after-line", first=first, second=second
        )


def _at_lines(lines: tuple[int, ...], course_texts: Texts) -> str:
    """` on line 13`, ` on lines 13 and 14`."""
    if not lines:
        return ""
    return course_texts.phrase(
        "at-line" if len(lines) == 1 else "at-lines", lines=_line_numbers(lines, course_texts)
    )


def _line_numbers(lines: tuple[int, ...], course_texts: Texts) -> str:
    """`2, 3 and 5`; of more than `_MOST_LINES` the first ones, and that there are others."""
    numbers = [str(line) for line in lines]
    if len(numbers) > _MOST_LINES:
        numbers[_MOST_LINES - 1 :] = [course_texts.phrase("others")]
    return _joined_names(numbers, course_texts)


def _joined_names(words: list[str], course_texts: Texts) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return course_texts.phrase("and").join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def explain_findings(
    findings: Iterable[Finding], feedback: Named[Named[str]] = (), context: SubmissionContext = NO_CONTEXT
) -> tuple[Diagnosis, ...]:
    """Name the mistakes behind findings, the one to repair first in front, in the words of ``feedback``.

    Findings that one repair would end (both tiles loaded before the same missing barrier) make one diagnosis.
    """
    suspects: list[Suspect] = []
    for finding in findings:
        mistake = mistake_behind(finding, context)
        if mistake:
            _join(suspects, Suspect.of(mistake, finding))
    updates = {
        (suspect.arrays, suspect.lines) for suspect in suspects if suspect.mistake == "unsynchronised-update"
    }
    suspects = [s for s in suspects if s.mistake != "two-writers" or (s.arrays, s.lines) not in updates]
    suspects.sort(key=lambda suspect: position(suspect.mistake))
    course_texts = texts_of_course(feedback)
    return tuple(suspect.diagnosis(course_texts) for suspect in suspects)


def advise(
    results: Iterable[CheckResult], feedback: Named[Named[str]] = (), context: SubmissionContext = NO_CONTEXT
) -> tuple[CheckResult, ...]:
    """Results with the hints that their findings suggest, in place of what the staff wrote for the item.

    ``feedback`` is what the staff say of mistakes (`grader.model.Assignment`), ``context`` what else is known
    of the submission. A hint that is not the staff's
    (a named mistake's) is specific already, and stays.
    """
    return tuple(_advised(result, feedback, context) for result in results)


def _join(suspects: list[Suspect], new: Suspect) -> None:
    """Add a suspect, or make it one with the first that the same repair would end."""
    for index, suspect in enumerate(suspects):
        both = suspect.joined(new)
        if both is not None:
            suspects[index] = both
            return
    suspects.append(new)


def _advised(result: CheckResult, feedback: Named[Named[str]], context: SubmissionContext) -> CheckResult:
    if result.verdict is not Verdict.FAIL or result.hint not in {"", result.item.hint}:
        return result
    compiling = compile_hint(result.findings)
    findings = [finding for finding in result.findings if finding.array not in context.missized]
    first = explain_findings(findings, feedback, context)[:MOST_HINTS]
    hints = [compiling, *(diagnosis.hint for diagnosis in first)]
    sentences = [capital(hint) for hint in dict.fromkeys(hints) if hint]
    reading = [diagnosis.read for diagnosis in first if diagnosis.read]
    return replace(result, hint=" ".join([*sentences, *dict.fromkeys(reading)]) or result.hint)


# --- what a compiler's message suggests ------------------------------------------------------------

BUILTINS = (
    "__syncthreads",
    "__syncwarp",
    "__shared__",
    "__global__",
    "__device__",
    "__host__",
    "__constant__",
    "__restrict__",
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "warpSize",
    "atomicAdd",
)
"""CUDA's own names that are often misspelt."""

ALIKE = 0.75
"""Least ratio of `difflib`: `__syncthread`, `blockidx`, `thread_idx` reach it, `block` and `sync` do not."""

UNKNOWN = re.compile(r'identifier "(\w+)" is undefined|"(\w+)" has not been declared', re.ASCII)

HINTS: dict[FindingCode, str] = {
    FindingCode.SEVERAL_SOURCES: "leave-one-file",
    FindingCode.FILE_EMPTY: "save-the-file",
    FindingCode.FILE_TOO_LARGE: "source-alone",
    FindingCode.NO_SOURCE: "put-file-in",
    FindingCode.FOLDER_EMPTY: "put-file-in",
    FindingCode.FILE_NO_TEXT: "as-saved",
    FindingCode.KERNEL_LEFT_OUT: "outside-of-if",
    FindingCode.NO_KERNEL: "put-global",
    FindingCode.OTHER_KERNELS: "name-your-kernel",
    FindingCode.TEMPLATE_WITHOUT_VALUES: "launch-template",
}
"""Hints for problems that have a code: the names of texts."""

PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        # a character that stands alone: compilers put typographic quotes around names themselves
        ("character [\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb\u00b4]", "straight-quotes"),
        (r"calling a (?:constexpr )?__host__ function ?\(\"(?:std::)?ceilf?\b", "round-up"),
        (r"calling a (?:constexpr )?__host__ function", "device-functions"),
        (r'^expected a ";"', "semicolon"),
        (r"zero-sized variable|array.*(?:greater than zero|negative)", "no-empty-array"),
    )
)
"""Patterns of compilers' messages, each with the name of the text that says what to do."""


def compile_hint(findings: Iterable[Finding]) -> str:
    """Hint for the first error of a build that is known; empty where none is."""
    errors = (
        finding
        for finding in findings
        if finding.kind is FindingKind.COMPILE and finding.severity is Severity.ERROR
    )
    return next(filter(None, map(_hint, errors)), "")


def _hint(error: Finding) -> str:
    details = dict(error.details)
    if error.code in HINTS:
        name, kernel = HINTS[error.code], str(details.get("named", "")).strip("`")
        if details.get("beside") and not details.get("rename"):
            name = "write-kernel-too"
        return text_of(name, kernel=kernel)
    if error.code is FindingCode.UNSPECIFIED and "macro" in details:
        return text_of("name-of-macro", name=details["macro"], line=details["defined"])
    # a compiler has no codes: what it says is read, in its words and not in ours
    compiler_text = error.message if error.code is FindingCode.UNSPECIFIED else details.get("text", "")
    return _hint_for_compiler(str(compiler_text))


def _hint_for_compiler(message: str) -> str:
    for pattern, hint in PATTERNS:
        if pattern.search(message):
            return text_of(hint)
    misspelt = UNKNOWN.search(message)
    return "" if misspelt is None else _spelling(misspelt[1] or misspelt[2])


def _spelling(name: str) -> str:
    """Name of CUDA's that was meant, if the given name looks like one."""
    from difflib import get_close_matches  # noqa: PLC0415 - for an unknown name only

    plain = {builtin.lower(): builtin for builtin in BUILTINS}
    meant = get_close_matches(name.lower(), plain, 1, ALIKE)
    return text_of("meant", name=plain[meant[0]], written=name) if meant else ""
