"""The report: for a terminal, as markdown to be read and kept, and as JSON for programs."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from grader.authoring.validation.records import is_counted
from grader.base.text import count, one_line, source_line
from grader.reports import wording
from grader.reports.layout import Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.text import Text

    from grader.authoring.validation.records import Mutant, Report, TrialOutcome

LONGEST = 12
"""Maximum number of survivors that are shown with their diffs; the files hold all."""


def render(report: Report, *, width: int = 100, ascii_only: bool = False) -> Text:
    """Lay out a report; print it with ``end=""``."""
    page = Page(width, ascii_only)
    page.line((one_line(f"{report.title} ({report.assignment})"), "bold"))
    page.paragraph(overview(report))
    _counts(page, report)
    _kinds(page, report)
    _cases(page, report)
    _controls(page, report)
    _survivors(page, report)
    for heading, lines, style in (
        ("warnings", report.warnings, "yellow"),
        ("problems", report.problems, "red"),
        ("faults of the grader", report.errors, "red"),
    ):
        _list(page, heading, lines, style)
    page.blank()
    page.line((verdict(report), "bold green" if report.sound else "bold red"))
    return page.text()


def overview(report: Report) -> str:
    """Parts of the assignment, in a sentence."""
    cases = count(report.cases, "case")
    return f"{report.kind}, {cases}, {wording.counted(report.points)} in the rubric; seed {report.seed}"


def verdict(report: Report) -> str:
    """The last line."""
    if report.errors:
        return "not decided: some of it could not be graded, and that is the grader's fault"
    if report.problems:
        return f"not sound: {len(report.problems)} {'problem' if len(report.problems) == 1 else 'problems'}"
    if report.unjudged:
        return f"not decided: {count(len(report.unjudged), 'mistake')} can only be judged with a GPU"
    return "sound"


def counts(report: Report) -> Iterable[tuple[str, str]]:
    """Trials and their results, as pairs of a name and a clause."""
    solution = report.solution
    skipped = f"; not judged here: {', '.join(solution.skipped)}" if solution.skipped else ""
    yield "model solution", f"{_score(solution.score, solution.max_score)}{skipped}"
    if report.on_gpu is not None:
        yield f"on {report.device}", _score(report.on_gpu.score, report.on_gpu.max_score)
    if report.skeleton is not None:
        built = "" if report.skeleton.built else ", does not compile"
        yield "skeleton", f"{_score(report.skeleton.score, report.skeleton.max_score)}{built}"
    if report.mistakes:
        right = sum(set(mistake.loses) == set(outcome.failed) for mistake, outcome in report.mistakes)
        later = f"; {len(report.unjudged)} are not judged here" if report.unjudged else ""
        yield "mistakes", f"{right} of {len(report.mistakes)} lose exactly the items that they should{later}"
    if report.mutants:
        yield "mutants", mutation_score(report)
    seeds = report.stability
    if seeds.solution_seeds:
        came = (
            "nothing came out differently"
            if not seeds.strays
            else f"{len(seeds.strays)} came out differently"
        )
        yield "stability", f"{seeds.solution_seeds} seeds, mistakes {seeds.mistake_seeds}: {came}"
    for name, seconds in report.seconds:
        yield name, f"{seconds:.1f} s"
    if report.spent:
        yield "time spent on", ", ".join(f"{name} {seconds:.0f} s" for name, seconds in report.spent)


def mutation_score(report: Report) -> str:
    """Number of killed mutants among those that are programs of their own."""
    counted, living = report.counted(), report.living()
    explained = {explanation.mutant for explanation in report.explained}
    why = sum(mutant.id in explained for mutant, _ in living)
    left = counted - why
    killed = counted - len(living)
    share = f" ({100 * killed / left:.0f} %)" if left else ""
    aside = len(report.mutants) - counted
    return (
        f"{killed} of {left} killed{share}; {why} more explained as equivalent; "
        f"{aside} set aside (they do not compile, or compile to the same program)"
    )


def by_kind(report: Report) -> list[tuple[str, int, int, int]]:
    """Numbers of killed, living and set aside mutants for each kind."""
    kinds = dict.fromkeys(sorted(mutant.kind for mutant, _ in report.mutants))
    killed, living, aside = Counter[str](), Counter[str](), Counter[str]()
    for mutant, outcome in report.mutants:
        if not is_counted(outcome):
            aside[mutant.kind] += 1
        elif outcome.charged:
            killed[mutant.kind] += 1
        else:
            living[mutant.kind] += 1
    return [(kind, killed[kind], living[kind], aside[kind]) for kind in kinds]


def fewest(report: Report) -> str:
    """Sufficient cases, for staff who want fewer."""
    kept = [use.case for use in report.uses if not use.spare]
    return (
        f"the fewest that catch all of it: {', '.join(kept)}; a further case may still help students to see"
    )


def _score(score: object, of: object) -> str:
    return f"{wording.points_text(score)} of {wording.points_text(of)}"  # type: ignore[arg-type]


def _counts(page: Page, report: Report) -> None:
    page.blank()
    rows = list(counts(report))
    room = max(len(name) for name, _ in rows) + 2
    for name, clause in rows:
        page.paragraph(one_line(clause, 1000), opening=f"  {one_line(name):<{room}}")


def _kinds(page: Page, report: Report) -> None:
    rows = by_kind(report)
    if not rows:
        return
    page.blank()
    room = max(len(kind) for kind, *_ in rows) + 2
    page.line((f"  {'mutants':<{room}}{'killed':>8}{'living':>8}{'aside':>8}", "bold"))
    for kind, killed, living, aside in rows:
        style = "red" if living else ""
        page.line((f"  {kind:<{room}}{killed or '-':>8}{living or '-':>8}{aside or '-':>8}", style))


def _cases(page: Page, report: Report) -> None:
    if not any(use.caught for use in report.uses):
        return
    page.blank()
    room = max(len(use.case) for use in report.uses) + 2
    page.line((f"  {'case':<{room}}{'catches':>8}{'alone':>8}", "bold"))
    for use in report.uses:
        page.line(f"  {use.case:<{room}}{use.caught:>8}{len(use.alone) or '-':>8}")
    if report.kind != "answers" and any(use.spare for use in report.uses):
        page.paragraph(fewest(report), indent=2)


def _controls(page: Page, report: Report) -> None:
    if not report.controls:
        return
    page.blank()
    for control in report.controls:
        clause = "within the error bound" if control.inside else f"outside it in {len(control.cases)} cases"
        style = "" if control.holds else "red"
        page.line((f"  {'ok' if control.holds else '!!':<4}{control.array} {control.name}: {clause}", style))


def _survivors(page: Page, report: Report) -> None:
    explained = {explanation.mutant: explanation.why for explanation in report.explained}
    ordered = sorted(report.living(), key=lambda pair: pair[0].id in explained)
    for mutant, _ in ordered[:LONGEST]:
        _survivor(page, mutant, explained.get(mutant.id, ""))
    if len(ordered) > LONGEST:
        page.blank()
        page.line(f"  {len(ordered) - LONGEST} more survivors are in the files of --json and --report")


def _survivor(page: Page, mutant: Mutant, why: str) -> None:
    page.blank()
    page.line((f"  {mutant.id}, line {mutant.line}", "yellow" if why else "red"))
    if why:
        page.paragraph(one_line(why, 2000), opening="  equivalent: ")
    for line in mutant.diff.split("\n")[2:]:
        page.paragraph(line[:1] + source_line(line[1:], 500), indent=4)


def _list(page: Page, heading: str, lines: tuple[str, ...], style: str) -> None:
    if not lines:
        return
    page.blank()
    page.line((heading, f"bold {style}"))
    for line in lines:
        page.paragraph(one_line(line, 2000), opening="  - ")


FORMAT_VERSION = 1


def as_json(report: Report) -> str:
    """Everything there is; for the ``fate`` of a mutant see `fate`."""
    document = asdict(report)
    explained = {explanation.mutant: explanation.why for explanation in report.explained}
    document["format_version"] = FORMAT_VERSION
    document["sound"] = report.sound
    document["mutation_score"] = _share(report, set(explained))
    document["mistakes"] = [
        {"file": m.file, "title": m.title, "loses": m.loses, **_outcome(o)} for m, o in report.mistakes
    ]
    document["mutants"] = [_mutant(m, o, explained) for m, o in report.mutants]
    document["baselines"] = [{"file": baseline.name, **_outcome(baseline)} for baseline in report.baselines]
    for name in ("solution", "skeleton", "on_gpu"):
        outcome = getattr(report, name)
        document[name] = None if outcome is None else _outcome(outcome)
    document["seconds"], document["spent"] = dict(report.seconds), dict(report.spent)
    return json.dumps(document, indent=2, default=_plain) + "\n"


def as_markdown(report: Report) -> str:
    """The report for people: what was tried, the matrix, every survivor with its diff."""
    return "\n".join(_lines(report)) + "\n"


def fate(mutant: Mutant, outcome: TrialOutcome, explained: Iterable[str]) -> str:
    """Fate of a mutant, in a word or two."""
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


def _outcome(outcome: TrialOutcome) -> dict[str, Any]:
    document = asdict(outcome)
    document["kills"] = dict(outcome.kills)
    return document


def _mutant(mutant: Mutant, outcome: TrialOutcome, explained: dict[str, str]) -> dict[str, Any]:
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
    yield f"# {_table_text(report.title)} (`{report.assignment}`): {verdict(report)}"
    yield f"\n{overview(report)}; digest `{report.digest[:16]}`\n"
    yield from _table(("", ""), counts(report))
    for heading, lines in (
        ("Problems", report.problems),
        ("Told", report.warnings),
        ("Faults of the grader", report.errors),
    ):
        if lines:
            yield f"\n## {heading}\n"
            yield from (f"- {_table_text(line)}" for line in lines)
    yield from _matrix(report)
    yield from _mistakes(report)
    yield from _mutants(report)


def _matrix(report: Report) -> Iterator[str]:
    if report.uses:
        yield "\n## Cases\n\nWhat each case catches of the mutants, and of what mistakes must lose.\n"
        rows = (
            (f"`{_table_text(u.case)}`", u.caught, len(u.alone), "" if u.caught else "of no use")
            for u in report.uses
        )
        yield from _table(("case", "catches", "alone", ""), rows)
        yield f"\n{fewest(report)[0].upper()}{_table_text(fewest(report)[1:])}."
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
        rows = (
            (f"`{_table_text(m.file)}`", _table_text(m.title), ", ".join(o.failed))
            for m, o in report.mistakes
        )
        yield from _table(("file", "what is wrong", "loses"), rows)


def _mutants(report: Report) -> Iterator[str]:
    if not report.mutants:
        return
    yield "\n## Mutants\n"
    yield from _table(("kind", "killed", "living", "aside"), by_kind(report))
    explained = {explanation.mutant: explanation.why for explanation in report.explained}
    for mutant, _ in report.living():
        why = explained.get(mutant.id)
        yield f"\n### {mutant.id}, line {mutant.line}: {'equivalent' if why else 'survives'}\n"
        if why:
            yield f"{_table_text(why)}\n"
        yield "```diff"
        yield from (source_line(line, 500).replace("```", "'''") for line in mutant.diff.split("\n"))
        yield "```"
    yield "\n### All of them\n"
    rows = (
        (f"`{m.id}`", m.line, fate(m, o, explained), ", ".join(o.charged), _cases_in_words(o))
        for m, o in report.mutants
    )
    yield from _table(("mutant", "line", "", "loses", "in cases"), rows)


def _cases_in_words(outcome: TrialOutcome) -> str:
    names = [case for case, _ in outcome.kills]
    shown = ", ".join(names[:4])
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown  # noqa: PLR2004 - fits a line


def _table(heads: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield f"| {' | '.join(str(cell) for cell in row)} |"


def _table_text(text: str) -> str:
    return one_line(text, 2000).replace("|", "\\|")
