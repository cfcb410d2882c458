"""The report as files: markdown to be read and kept, JSON for programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from grader.text import one_line, source_line
from grader.validation.report_text import by_kind, counts, fewest, overview, verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.validation.records import Mutant, Outcome, Report

FORMAT_VERSION = 1


def as_json(report: Report) -> str:
    """Everything there is; for the ``fate`` of a mutant see `fate`."""
    told = asdict(report)
    explained = {each.mutant: each.why for each in report.explained}
    told["format_version"] = FORMAT_VERSION
    told["sound"] = report.sound
    told["mutation_score"] = _share(report, set(explained))
    told["mistakes"] = [
        {"file": m.file, "title": m.title, "loses": m.loses, **_outcome(o)} for m, o in report.mistakes
    ]
    told["mutants"] = [_mutant(m, o, explained) for m, o in report.mutants]
    told["baselines"] = [{"file": each.name, **_outcome(each)} for each in report.baselines]
    for name in ("solution", "skeleton", "on_gpu"):
        outcome = getattr(report, name)
        told[name] = None if outcome is None else _outcome(outcome)
    told["seconds"], told["spent"] = dict(report.seconds), dict(report.spent)
    return json.dumps(told, indent=2, default=_plain) + "\n"


def as_markdown(report: Report) -> str:
    """The report for people: what was tried, the matrix, every survivor with its diff."""
    return "\n".join(_lines(report)) + "\n"


def fate(mutant: Mutant, outcome: Outcome, explained: Iterable[str]) -> str:
    """What became of a mutant, in a word or two."""
    if outcome.error:
        return "undecided"
    if not outcome.built:
        return "does not compile"
    if outcome.unchanged:
        return "equal"
    if outcome.charged:
        return "killed"
    return "explained" if mutant.id in explained else "survives"


def _share(report: Report, explained: set[str]) -> float | None:
    """The share of mutants killed, of those that are programs of their own and are not explained."""
    fates = [fate(mutant, outcome, explained) for mutant, outcome in report.mutants]
    of = fates.count("killed") + fates.count("survives")
    return fates.count("killed") / of if of else None


def _outcome(outcome: Outcome) -> dict[str, Any]:
    told = asdict(outcome)
    told["kills"] = dict(outcome.kills)
    return told


def _mutant(mutant: Mutant, outcome: Outcome, explained: dict[str, str]) -> dict[str, Any]:
    return {
        "id": mutant.id,
        "kind": mutant.kind,
        "line": mutant.line,
        "diff": mutant.diff,
        "fate": fate(mutant, outcome, explained),
        "why": explained.get(mutant.id, ""),
        "items": outcome.charged,
        "cases": dict(outcome.kills),
        "seconds": outcome.seconds,
        "same_as": outcome.same_as,
        "error": outcome.error,
    }


def _plain(value: object) -> object:
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return str(value)


def _lines(report: Report) -> Iterator[str]:
    yield f"# {_shown(report.title)} (`{report.assignment}`): {verdict(report)}"
    yield f"\n{overview(report)}; digest `{report.digest[:16]}`\n"
    yield from _table(("", ""), counts(report))
    for heading, lines in (
        ("Problems", report.problems),
        ("Told", report.warnings),
        ("Faults of the grader", report.errors),
    ):
        if lines:
            yield f"\n## {heading}\n"
            yield from (f"- {_shown(line)}" for line in lines)
    yield from _matrix(report)
    yield from _mistakes(report)
    yield from _mutants(report)


def _matrix(report: Report) -> Iterator[str]:
    if report.uses:
        yield "\n## Cases\n\nWhat each case catches of the mutants, and of what mistakes must lose.\n"
        rows = (
            (f"`{_shown(u.case)}`", u.caught, len(u.alone), "" if u.caught else "of no use")
            for u in report.uses
        )
        yield from _table(("case", "catches", "alone", ""), rows)
        yield f"\n{fewest(report)[0].upper()}{_shown(fewest(report)[1:])}."
    if report.controls:
        yield "\n## Tolerance\n"
        rows_of = (
            (f"{c.array} {c.name}", "inside" if c.inside else "outside", "ok" if c.holds else "**wrong**")
            for c in report.controls
        )
        yield from _table(("result", "error bound", ""), rows_of)


def _mistakes(report: Report) -> Iterator[str]:
    if report.mistakes:
        yield "\n## Mistakes\n"
        rows = ((f"`{_shown(m.file)}`", _shown(m.title), ", ".join(o.failed)) for m, o in report.mistakes)
        yield from _table(("file", "what is wrong", "loses"), rows)


def _mutants(report: Report) -> Iterator[str]:
    if not report.mutants:
        return
    yield "\n## Mutants\n"
    yield from _table(("kind", "killed", "living", "aside"), by_kind(report))
    explained = {each.mutant: each.why for each in report.explained}
    for mutant, _ in report.living():
        why = explained.get(mutant.id)
        yield f"\n### {mutant.id}, line {mutant.line}: {'equivalent' if why else 'survives'}\n"
        if why:
            yield f"{_shown(why)}\n"
        yield "```diff"
        yield from (source_line(line, 500).replace("```", "'''") for line in mutant.diff.split("\n"))
        yield "```"
    yield "\n### All of them\n"
    rows = (
        (f"`{m.id}`", m.line, fate(m, o, explained), ", ".join(o.charged), _cases(o))
        for m, o in report.mutants
    )
    yield from _table(("mutant", "line", "", "loses", "in cases"), rows)


def _cases(outcome: Outcome) -> str:
    names = [case for case, _ in outcome.kills]
    shown = ", ".join(names[:4])
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown  # noqa: PLR2004 - fits a line


def _table(heads: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield f"| {' | '.join(str(cell) for cell in row)} |"


def _shown(text: str) -> str:
    return one_line(text, 2000).replace("|", "\\|")
