"""Wording of the checks: one sentence per finding, and numbers as people write them.

A sentence starts in lower case and names the student's lines. Of a case that the student may not see it
names the lines at most (`concealed`): block, thread, element and count would give away its shape, and lines
do, too, unless `secrecy` has left them in.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import isnan

from grader.base.text import sentence as one_sentence
from grader.model import Build, Clause, Finding, FindingCode, FindingKind, Named, Visibility
from grader.model.messages import current, text_of
from grader.model.messages.hidden import LONGEST
from grader.simulation.ptx.facts import needs_texture


def printable(text: str) -> str:
    """One line of at most `LONGEST` characters; control characters are shown, never obeyed."""
    return one_sentence(text, LONGEST)


def instance(build: Build) -> str:
    """Instance of a template that is graded; empty where the kernel is no template."""
    if not build.instance:
        return ""
    return text_of("instance", instance=printable(build.instance))


def parameter(name: str, label: str = "", index: str = "") -> str:
    """`C[54][0]` (your `P`): an element, or an array, with what the kernel calls it where that differs."""
    element = f"`{printable(name)}{index}`"
    return element if label in ("", name) else text_of("your-name", name=element, label=printable(label))


def number(value: float) -> str:
    """A value of an array: as many digits as float32 can tell apart."""
    return "NaN" if isnan(value) else f"{value:.9g}"


def small(value: float) -> str:
    """An error or a bound: its size matters, not its digits."""
    return "NaN" if isnan(value) else f"{value:.3g}"


def percent(share: Fraction, limit: Fraction) -> str:
    """``share`` with as many decimals as it takes not to look like a ``limit`` that it is not."""
    for decimals in range(1, 10):
        text = f"{float(share * 100):.{decimals}f}"
        if share == limit or Fraction(text) != limit * 100:
            break
    return f"{text} %"


def plain_percent(share: Fraction) -> str:
    """A threshold as the staff wrote it: `10 %`, `12.5 %`."""
    return f"{float(share * 100):.6g} %"


def sizes(shape: Named[int]) -> str:
    """`M = K = N = 1024`, `M = K = 32, N = 8`: neighbours of one size share it."""
    groups: list[tuple[str, int]] = []
    for name, size in shape:
        if groups and groups[-1][1] == size:
            groups[-1] = (f"{groups[-1][0]} = {name}", size)
        else:
            groups.append((name, size))
    return ", ".join(f"{names} = {size}" for names, size in groups)


def sentence(finding: Finding) -> str:
    """The finding's own message, or else a sentence made of its kind, its array and its lines."""
    return finding.message or current().of_kind(finding, texture=needs_texture(finding.hazard))


def bare(finding: Finding) -> Finding:
    """The finding without anything that depends on the shape or the values of its case."""
    return replace(
        finding,
        message="",
        hazard=finding.hazard or finding.direction,
        code=FindingCode.UNSPECIFIED,
        access=None,
        details=(),
        constants=(),
        case="",
        block=None,
        thread=None,
        other_block=None,
        other_thread=None,
        address=finding.array,
        count=1,
    )


def concealed(finding: Finding) -> Finding:
    """The bare finding, with a message that says where it comes from."""
    stripped = bare(finding)
    remark = Clause("in-hidden-case", (("sentence", sentence(stripped)),))
    return replace(stripped, message=current().clause(remark))


def with_line(finding: Finding) -> str:
    """`line 12: expected a ";"`; a message that names the line itself stays as it is."""
    text = printable(sentence(finding))
    if finding.line is None or _names_line(finding):
        return text
    return text_of("line-first", line=finding.line, sentence=text)


def _names_line(finding: Finding) -> bool:
    """True if the finding's sentence says its line.

    Of those that no code stands for, the ones made of the finding's kind do; a compiler's does not, nor does
    that of a sheet of answers.
    """
    if finding.code is not FindingCode.UNSPECIFIED:
        return current().names_line(finding)
    return not finding.message or finding.kind not in (FindingKind.COMPILE, FindingKind.ANSWER)


def displayed_finding(finding: Finding, visibility: Visibility, case: str) -> Finding:
    """The finding as a student may see it, with a message and its case."""
    if visibility is not Visibility.VISIBLE:
        return concealed(finding)
    named = replace(finding, case=finding.case or case)
    return replace(named, message=printable(sentence(named)))
