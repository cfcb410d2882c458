"""What the checks say: one sentence per finding, and numbers as people write them.

A sentence starts in lower case and names the student's lines. Of a case that the student may not see it
tells the lines at most (`concealed`): block, thread, element and count would give away its shape, and lines
do, too, unless `secrecy` has left them in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import isnan
from typing import TypeAlias

from grader.model import Build, Dim3, Finding, FindingCode, FindingKind, Named, Visibility
from grader.ptx.by_hand import needs_texture
from grader.text import sentence as one_sentence

LONGEST = 500
"""Characters of somebody else's text (a compiler's, say) that one message may hold."""

Sentence: TypeAlias = Callable[[Finding], str]

NAMED_ELEMENT = re.compile(r"(?!local$|shared\b|0x)[A-Za-z_$][\w$]*(\[\d+\])*$", re.ASCII)
"""`A_tile[3][5]`, and an array's name alone."""

PLACES = {
    "local": "a local array",
    "a local variable": "a local variable",
    "shared": "shared memory",
}
"""Addresses that name no array of the source."""

HAZARD_SENTENCES = {
    "RAW": "one thread reads {what}{line} while another is still writing it{other}",
    "WAR": "one thread overwrites {what}{line} while another is still reading it{other}",
    "WAW": "two threads write {what} at the same time{lines}",
}


def printable(text: str) -> str:
    """One line of at most `LONGEST` characters; control characters are shown, never obeyed."""
    return one_sentence(text, LONGEST)


def capital(text: str) -> str:
    """The text as a sentence begins; what starts with a name of the source stays as it is."""
    return text[:1].upper() + text[1:]


def instance(build: Build) -> str:
    """Which instance of a template is graded; empty where the kernel is no template."""
    if not build.instance:
        return ""
    return f"`{printable(build.instance)}` is the instance of the template that is graded"


def parameter(name: str, label: str = "", index: str = "") -> str:
    """`C[54][0]` (your `P`): an element, or an array, with what the kernel calls it where that differs."""
    name_in_file = f" (your `{printable(label)}`)" if label not in ("", name) else ""
    return f"`{printable(name)}{index}`{name_in_file}"


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
    """The finding's own message, or else a sentence made of its fields."""
    return finding.message or SENTENCES[finding.kind](finding)


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
    return replace(stripped, message=sentence(stripped) + " (in a hidden case)")


def with_line(finding: Finding) -> str:
    """`line 12: expected a ";"`; a message that names the line itself stays as it is."""
    text = printable(sentence(finding))
    if finding.line is None or f"line {finding.line}" in text or f"lines {finding.line}" in text:
        return text
    return f"line {finding.line}: {text}"


def shown(finding: Finding, visibility: Visibility, case: str) -> Finding:
    """The finding as a student may see it, with a message and its case."""
    if visibility is not Visibility.VISIBLE:
        return concealed(finding)
    named = replace(finding, case=finding.case or case)
    return replace(named, message=printable(sentence(named)))


def at_line(line: int | None, word: str = " on line") -> str:
    """` on line 18`, or nothing where the line is not known."""
    return "" if line is None else f"{word} {line}"


def _what(finding: Finding, fallback: str = "memory") -> str:
    if NAMED_ELEMENT.match(finding.address):
        return f"`{finding.address}`"
    # "shared memory", "a local variable"; a bare address tells nobody anything
    return PLACES.get(finding.address) or fallback


def _triple(index: Dim3) -> str:
    return "({}, {}, {})".format(*index)


def _where(finding: Finding) -> str:
    """` (block (0, 0, 0), threads (3, 0, 0) and (5, 0, 0), case `mp3`)`, of what is known."""
    parts = []
    if finding.block is not None:
        parts.append(f"block {_triple(finding.block)}")
    if finding.thread is not None and finding.other_thread is not None:
        other = "" if finding.other_block is None else f" of block {_triple(finding.other_block)}"
        parts.append(f"threads {_triple(finding.thread)} and {_triple(finding.other_thread)}{other}")
    elif finding.thread is not None:
        parts.append(f"thread {_triple(finding.thread)}")
    if finding.case:
        parts.append(f"case `{printable(finding.case)}`")
    return f" ({', '.join(parts)})" if parts else ""


def _race(finding: Finding) -> str:
    both = "" if finding.line is None else at_line(finding.line)
    if both and finding.other_line not in (None, finding.line):
        both = f" on lines {finding.line} and {finding.other_line}"
    template = HAZARD_SENTENCES.get(finding.hazard, "two threads use {what} without waiting{lines}")
    line, other = at_line(finding.line), at_line(finding.other_line)
    text = template.format(what=_what(finding), line=line, other=other, lines=both)
    return text + _where(finding)


def _out_of_bounds(finding: Finding) -> str:
    verb = {"load": "reads", "store": "writes"}.get(finding.direction, "goes")
    return f"a thread {verb} outside {_what(finding, 'every array')}{at_line(finding.line)}{_where(finding)}"


def _misaligned(finding: Finding) -> str:
    text = f"a thread uses {_what(finding)} at an address that does not fit its type"
    return text + at_line(finding.line) + _where(finding)


def _uninitialised(finding: Finding) -> str:
    what = _what(finding, "a value")
    return f"a thread reads {what} before anything was stored there{at_line(finding.line)}{_where(finding)}"


def _barrier(finding: Finding) -> str:
    waiting = f"some threads of a block wait at `__syncthreads()`{at_line(finding.line)}"
    return f"{waiting} and the others never get there{_where(finding)}"


def _fault(finding: Finding) -> str:
    return f"the kernel stopped with a fault{at_line(finding.line)}{_where(finding)}"


def _timeout(finding: Finding) -> str:
    seen = at_line(finding.line, "; it was last seen on line")
    return f"the kernel did not come to an end{seen}{_where(finding)}"


def _unsupported(finding: Finding) -> str:
    what = f"`{printable(finding.hazard)}`" if finding.hazard else "an instruction"
    if needs_texture(finding.hazard):
        line = at_line(finding.line)
        return f"the kernel uses {what}{line} and is given no texture or surface{_where(finding)}"
    written = f"{what}, written by hand{at_line(finding.line)}"
    return f"the kernel uses {written}, which the grader does not run{_where(finding)}"


def _plainly(text: str) -> Sentence:
    return lambda finding: text + at_line(finding.line) + _where(finding)


SENTENCES: dict[FindingKind, Sentence] = {
    FindingKind.COMPILE: _plainly("the submission does not compile"),
    FindingKind.WRONG_OUTPUT: _plainly("an output is wrong"),
    FindingKind.RACE: _race,
    FindingKind.OUT_OF_BOUNDS: _out_of_bounds,
    FindingKind.MISALIGNED: _misaligned,
    FindingKind.UNINITIALISED: _uninitialised,
    FindingKind.BARRIER_DIVERGENCE: _barrier,
    FindingKind.FAULT: _fault,
    FindingKind.TIMEOUT: _timeout,
    FindingKind.SLOW: _plainly("the kernel is slow"),
    FindingKind.TRAFFIC: _plainly("the kernel moves too much memory"),
    FindingKind.MISTAKE: _plainly("there is a known mistake"),
    FindingKind.STRUCTURE: _plainly("the kernel is not built as was asked"),
    FindingKind.ANSWER: _plainly("an answer is not what was asked for"),
    FindingKind.UNSUPPORTED: _unsupported,
    FindingKind.UNDEFINED: _plainly("the optimised program and the unoptimised one do not do the same"),
}
