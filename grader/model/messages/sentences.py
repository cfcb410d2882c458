"""Findings → sentences: templates by code, filled with the finding's data; staff may replace any of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from string import Formatter
from typing import TYPE_CHECKING, Any

from grader.model import Access, Clause, FindingKind
from grader.model.messages import advice, answers, builds, checks, hazards, hidden, launches, reports
from grader.model.messages.hazards import spell

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from grader.model import Detail, Finding, FindingCode

_MOST_LINES = 3
"""Lines that are named."""

TEMPLATES: Mapping[FindingCode, str] = {
    **hazards.SENTENCES,
    **launches.SENTENCES,
    **builds.SENTENCES,
}
"""The sentence of each code."""

_REMARKS: Mapping[str, str] = {
    "nothing-depends": "{sentence}; nothing depends on it",
    "when-optimised": "in the optimised program, which is the one that is graded, {sentence}",
    "when-unoptimised": "{sentence}, but only without optimisation: it costs nothing",
    "doubted-race": (
        "{witness} says: {sentence}; it costs nothing, because the emulator saw every access of this launch "
        "and found an order"
    ),
    "doubted-barrier": (
        "{witness} says: {sentence}; it costs nothing, because the emulator saw every thread of this launch "
        "come to its barriers"
    ),
    "decided-anew": (
        "on the GPU of this run: {sentence}; it costs nothing, because what threads do is undefined here, "
        "and the next run may do otherwise"
    ),
    "kernel-alone": "not judged, for only the kernel is asked for: {sentence}",
    "in-hidden-case": "{sentence} (in a hidden case)",
}
"""Sentences around the finding's own, which is ``{sentence}``."""

_WORDS: Mapping[str, str] = {
    "and": " and ",
    "or": " or ",
    "others": "others",
    "on-line": "on line {lines}",
    "on-lines": "on lines {lines}",
}

CLAUSE_TABLES = (
    hazards.CLAUSES,
    launches.CLAUSES,
    hidden.CLAUSES,
    builds.CLAUSES,
    _REMARKS,
    _WORDS,
)
"""A name stands in one of them only."""

CLAUSES: Mapping[str, str] = {name: text for table in CLAUSE_TABLES for name, text in table.items()}
"""The parts that sentences are put together with, by name."""

TEXT_TABLES: Mapping[str, Mapping[str, str]] = {
    "checks": checks.TEXTS,
    "hints": builds.HINTS,
    "advice": advice.TEXTS,
    "worked-answers": answers.WORKED_OUT,
    "sheets": answers.SHEETS,
    "reports": reports.TEXTS,
}
"""Texts that belong to no finding, by table; a name stands in one of them only."""

TEXTS: Mapping[str, str] = {name: text for table in TEXT_TABLES.values() for name, text in table.items()}
"""The same by name alone."""

COMMON = frozenset({"array", "block", "element", "line", "other_line", "other_thread", "thread"})
"""Fields that every sentence may have; what a finding does not know is ``?``."""

UNKNOWN = "?"


def misplaced(text: str, allowed: Collection[str], original: str = "") -> tuple[str, ...]:
    """The placeholders of a text that it may not hold; ValueError where its braces do not match.

    Thousands may be separated where the original does it, and nothing else may be said of a placeholder.
    """
    return tuple(
        name
        for _, name, form, conversion in Formatter().parse(text)
        if name is not None
        and (name not in allowed or conversion or (form and (form != "," or f"{{{name}:,}}" not in original)))
    )


@dataclass(frozen=True)
class Sentences:
    """The templates of one language: what is not given is English."""

    templates: Mapping[FindingCode, str] = field(default_factory=dict)
    clauses: Mapping[str, str] = field(default_factory=dict)
    hidden: Mapping[str, str] = field(default_factory=dict)
    """Sentences by the kind of a finding, as `grader.model.messages.hidden`."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Texts by name, as `TEXTS`."""

    def sentence(self, finding: Finding) -> str:
        """Sentence of a finding, in lower case and without a full stop; empty where its code has none.

        Raises KeyError for a finding without the data that its code needs.
        """
        template = self.templates.get(finding.code) or TEMPLATES.get(finding.code, "")
        return self._remarked(template.format_map(self._fields(finding)), finding) if template else ""

    def names_line(self, finding: Finding) -> bool:
        """True if the sentence of a finding's code says the finding's line."""
        return self.sentence(finding) != self.sentence(replace(finding, line=None))

    def of_kind(self, finding: Finding, *, texture: bool = False) -> str:
        """Sentence of a finding by its kind, its array and its lines."""
        key = hidden.key(finding, texture=texture)
        template = self.hidden.get(key) or hidden.SENTENCES[key]
        return template.format_map(self._filled(hidden.fields(finding)))

    def worded(self, finding: Finding) -> Finding:
        """The finding with the sentence of its code; as it is where its code has none."""
        return replace(finding, message=self.sentence(finding) or finding.message)

    def remarked(self, finding: Finding, remark: Clause) -> Finding:
        """The finding with a remark around its sentence."""
        details = {name: value for name, value in finding.details if name != "remarks"}
        details["remarks"] = (*_remarks(finding), remark)
        message = self.clause(Clause(remark.name, (*remark.values, ("sentence", finding.message))))
        return replace(finding, details=tuple(details.items()), message=message)

    def clause(self, clause: Clause) -> str:
        """The text of a clause; the form for one where its ``count`` is 1 and there is such a form."""
        values = dict(clause.values)
        name = f"{clause.name}-one" if values.get("count") == 1 else clause.name
        template = self._clause(name) or self._clause(clause.name)
        return template.format_map(self._filled(values))

    def text(self, name: str, values: Mapping[str, Detail]) -> str:
        """A text of `TEXTS`; the form for one where ``count`` is 1. Raises KeyError for an unknown name."""
        if values.get("count") == 1 and f"{name}-one" in TEXTS:
            name = f"{name}-one"
        template = self.texts.get(name) or TEXTS[name]
        return template.format_map(self._filled(values))

    def repeated(self, sentence: str, times: int) -> str:
        """The sentence with how many times it happened."""
        name = "times-after-question" if sentence.endswith("?") else "times"
        return self.text(name, {"sentence": sentence, "count": times})

    def _clause(self, name: str) -> str:
        return self.clauses.get(name) or CLAUSES.get(name, "")

    def _remarked(self, sentence: str, finding: Finding) -> str:
        if finding.constants:
            constants = ", ".join(
                self.clause(Clause("constant", (("name", name), ("value", value))))
                for name, value in finding.constants
            )
            values = (("constants", constants), ("sentence", sentence))
            sentence = self.clause(Clause("with-constants", values))
        for remark in _remarks(finding):
            sentence = self.clause(Clause(remark.name, (*remark.values, ("sentence", sentence))))
        return sentence

    def _fields(self, finding: Finding) -> dict[str, Any]:
        """Values that a sentence may hold: the finding's own fields, its access, and its details."""
        access, details = finding.access or Access(), dict(finding.details)
        values: dict[str, Any] = dict.fromkeys(COMMON, UNKNOWN)
        values |= {
            "verb": self._clause(hazards.VERBS.get(access.verb, "uses")),
            "element": self._element(finding, access),
            "array": finding.array,
            "address": finding.address,
            "size": access.size,
            "space": access.space or "generic",
        }
        for name in ("line", "other_line"):
            values[name] = getattr(finding, name) or UNKNOWN
        for name in ("block", "thread", "other_thread"):
            index = getattr(finding, name)
            values[name] = spell(index) if index else UNKNOWN
        if finding.kind is FindingKind.RACE:
            values |= self._filled(hazards.fields(finding))
        callee = details.get("function", "")
        function = Clause("function", (("name", callee),)) if callee else Clause("some-function")
        details["function"] = (function,)
        extents = details.pop("extents", ())
        details.pop("remarks", None)
        values |= self._filled({**details, "missed": hazards.missed(details)})
        shape = extents if isinstance(extents, tuple) else ()
        values["extents"] = " x ".join(map(str, shape)) or str(details.get("elements"))
        return values

    def _element(self, finding: Finding, access: Access) -> str:
        if finding.address == CLAUSES["local-variable"]:
            return self._clause("local-variable")
        if finding.address or not access.space:
            return finding.address or UNKNOWN
        return self.clause(Clause("memory-of-space", (("space", access.space),)))

    def _filled(self, values: Mapping[str, Detail]) -> dict[str, int | str]:
        return {name: self._text(name, value) for name, value in values.items()}

    def _text(self, name: str, value: Detail) -> int | str:
        """A value as a sentence holds it: clauses one after the other, names and lines as a list."""
        if isinstance(value, int | str):
            return value
        if not value:
            return ""
        if name in ("lines", "branches"):
            return self._on_lines((line for line in value if isinstance(line, int)), name)
        words = [self.clause(part) if isinstance(part, Clause) else str(part) for part in value]
        separator = {"where": "; ", "places": "; ", "parts": ", "}.get(name)
        last = "or" if name == "choices" else "and"
        return separator.join(words) if separator else self._listed(words, last)

    def _on_lines(self, lines: Iterable[int], name: str) -> str:
        """``on line 3``, ``on lines 3, 5 and 9``; no more than three are named, each once."""
        words = [str(line) for line in sorted(set(lines))]
        if len(words) > _MOST_LINES:
            words[_MOST_LINES:] = [self._clause("others")]
        text = self._listed(words, "or" if name == "branches" else "and")
        return self.clause(Clause("on-lines" if len(words) > 1 else "on-line", (("lines", text),)))

    def _listed(self, words: list[str], last: str) -> str:
        return self._clause(last).join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def _remarks(finding: Finding) -> tuple[Clause, ...]:
    """Remarks that later stages added to the finding."""
    remarks = dict(finding.details).get("remarks", ())
    parts = remarks if isinstance(remarks, tuple) else ()
    return tuple(remark for remark in parts if isinstance(remark, Clause))


ENGLISH = Sentences()
"""The sentences that come with the grader."""
