"""Wrong assignments: every message, word for word.

Each ``tests/golden/assignment/<name>.yaml`` is wrong in its own way; ``<name>.txt`` holds its messages.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.base.errors import SpecError
from grader.grading.assignment import document, load_assignment
from tests.grading.assignment.conftest import SOUND

if TYPE_CHECKING:
    from tests.conftest import Golden
    from tests.grading.assignment.conftest import Write

FOLDER = Path(__file__).parents[2] / "golden" / "assignment"
WRONG = sorted(file.stem for file in FOLDER.glob("*.yaml"))


def problems(folder: Path) -> tuple[str, ...]:
    """The problems of the assignment in a folder, without the folder's name."""
    with pytest.raises(SpecError) as caught:
        load_assignment(folder)
    assert str(caught.value) == "\n".join(caught.value.problems)
    return tuple(problem.removeprefix(f"{folder}/") for problem in caught.value.problems)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_assignment_is_refused_with_these_words(name: str, write: Write, golden: Golden) -> None:
    """All problems of a file are reported at once, each with its place, its path and what was expected."""
    found = problems(write((FOLDER / f"{name}.yaml").read_bytes()))
    golden(f"assignment/{name}.txt", "".join(f"{problem}\n" for problem in found))


def test_without_the_parser_in_c_the_words_are_the_same(
    write: Write, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyYAML has it on most machines, and the other one everywhere."""
    monkeypatch.setattr(document, "_FAST_LOADER", yaml.SafeLoader)
    for name in WRONG:
        found = problems(write((FOLDER / f"{name}.yaml").read_bytes()))
        golden(f"assignment/{name}.txt", "".join(f"{problem}\n" for problem in found))


def test_problems_are_in_the_order_of_the_file(write: Write) -> None:
    """One can repair a file from top to bottom."""
    found = problems(write((FOLDER / "many-problems.yaml").read_bytes()))
    places = [tuple(map(int, re.findall(r":(\d+)", problem)[:2])) for problem in found]
    assert len(found) >= 10
    assert places == sorted(places)


def test_a_typo_does_not_hide_other_problems(write: Write) -> None:
    """Parts that are sound are checked against each other although another part is not."""
    text = SOUND.replace("title:", "titel:").replace("needs: [compiles]", "needs: [builds]")
    found = problems(write(text.replace("ceil(N /", "ceil(M /")))
    assert [problem.split(": ")[1] for problem in found[1:]] == [
        "titel",
        "submission.launch.grid[0]",
        "rubric[1].needs[0]",
    ]


PIECES = re.findall(r"\w+|\W", SOUND)
REPLACEMENTS = st.sampled_from(
    [
        *dict.fromkeys(PIECES),
        "[]",
        "{}",
        "~",
        '""',
        '"\\e[2J"',
        "1..2",
        "- ",
        "? ",
        "!!str ",
        "&a ",
        "*a",
        "-5",
    ]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, len(PIECES) - 1), REPLACEMENTS), min_size=1, max_size=3))
def test_whatever_is_written_there_is_an_assignment_or_a_list_of_problems(
    write: Write, changes: list[tuple[int, str]]
) -> None:
    """No text leads to any other exception, and no message can control a terminal."""
    pieces = list(PIECES)
    for place, new in changes:
        pieces[place] = new
    folder = write("".join(pieces))
    try:
        lines: tuple[str, ...] = (load_assignment(folder).id,)
    except SpecError as error:
        lines = error.problems
    assert lines
    assert all(line.isprintable() for line in lines)
