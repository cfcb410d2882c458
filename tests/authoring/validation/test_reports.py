"""The report of a validation: for the terminal, as markdown, as JSON."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console

from grader.authoring.validation import reports
from tests.authoring.validation.sample_outcomes import report, survivors

if TYPE_CHECKING:
    from grader.authoring.validation import Report
    from tests.conftest import Golden


def _shown(made: Report, *, width: int = 90, ascii_only: bool = False) -> str:
    target = io.StringIO()
    console = Console(file=target, width=width, markup=False, highlight=False)
    console.print(reports.render(made, width=width, ascii_only=ascii_only), end="")
    return target.getvalue()


def test_a_sound_assignment_in_the_terminal(golden: Golden) -> None:
    """Counts, mutants by kind, what each case is good for, the verdict."""
    golden("validation/sound.txt", _shown(report()))


def test_survivors_in_the_terminal(golden: Golden) -> None:
    """Each survivor with its diff; the explained one with its reason."""
    problems = ("a mutant survives: guard-dropped-1 (line 7)", "another problem")
    golden("validation/survivors.txt", _shown(replace(survivors(), problems=problems)))


def test_a_terminal_without_unicode_gets_ascii() -> None:
    """Nothing but ASCII, nothing wider than asked."""
    text = _shown(survivors(), width=60, ascii_only=True)
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 60


def test_markdown(golden: Golden) -> None:
    """All of it, with every mutant."""
    golden("validation/survivors.md", reports.as_markdown(survivors()))


def test_json_tells_the_fate_of_every_mutant() -> None:
    """And the mutation score, of those that count and are not explained."""
    survived = json.loads(reports.as_json(survivors()))
    assert [each["fate"] for each in survived["mutants"]] == ["survives", "explained"]
    assert survived["mutation_score"] == 0
    sound = json.loads(reports.as_json(report()))
    assert [each["fate"] for each in sound["mutants"]] == ["killed", "killed", "equal"]
    assert (sound["mutation_score"], sound["sound"], sound["format_version"]) == (1, True, 1)
    assert sound["mutants"][0]["cases"] == {"odd": ["memory"]}


def test_what_a_name_contains_cannot_act_on_a_terminal() -> None:
    """Control characters in the staff's texts are written out."""
    assert "\x1b" not in _shown(report(title="a\x1b[31mb", problems=("c\x1b]0;d\x07",)))
