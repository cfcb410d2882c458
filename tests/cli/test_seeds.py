"""The seed of a class: what draws it, how it is written down, and that all of it counts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from grader.classroom.batch import BatchSession, OutFolder
from grader.classroom.batch.executor import BatchSetting
from grader.classroom.batch.resume import session_for
from grader.cli import main
from grader.grading.assignment import draw_seed, expand_cases, reference_folder
from grader.grading.oracle import load_oracle
from grader.kinds.timing import timing_sets
from grader.reports import grade_json
from tests.bundled import bundled
from tests.reports.sample_grades import partial_credit

ASSIGNMENT = bundled("tiled-matmul")
SETTING = BatchSetting("emulator", "13.0")
WIDE = 2**127 + 1
ALIKE = [WIDE, WIDE + 2**32, WIDE + 2**63, WIDE + 2**64, WIDE - 2**127]
"""Seeds that agree in a half of their bits at least."""


def test_a_drawn_seed_cannot_be_found_by_trying() -> None:
    """It has 128 bits: not one of twenty is as short as what a machine can try in a year."""
    drawn = [draw_seed() for _ in range(20)]
    assert len(set(drawn)) == len(drawn)
    assert all(0 <= seed < 2**128 for seed in drawn)
    assert max(drawn) >= 2**120


def test_every_bit_of_a_seed_decides_cases_and_timed_inputs() -> None:
    """Nothing on the way to a generator cuts it off."""
    cases = [expand_cases(ASSIGNMENT, seed) for seed in ALIKE]
    assert len({case.seed for drawn in cases for case in drawn}) == sum(map(len, cases))
    assert ASSIGNMENT.timing is not None
    small = replace(ASSIGNMENT.timing, shape=(("M", 8), ("K", 8), ("N", 8)))
    oracle = load_oracle(reference_folder(ASSIGNMENT))
    sets = [timing_sets(ASSIGNMENT, (), oracle, small, seed)[0] for seed in ALIKE]
    assert len({str(arguments[0].value) for arguments in sets}) == len(ALIKE)


def test_a_folder_of_an_older_version_goes_on_with_its_seed(out: OutFolder) -> None:
    """A short seed that was drawn once is not drawn again; a new folder gets a long one."""
    assert session_for(out, SETTING, ASSIGNMENT, None, None).seed >= 2**64
    old = BatchSession(ASSIGNMENT.id, ASSIGNMENT.digest, "emulator", 1_234_567_890, "0.9", "13.0")
    out.begin(old)
    assert session_for(out, SETTING, ASSIGNMENT, None, None).seed == old.seed
    out.begin(replace(old, seed=WIDE))
    assert session_for(out, SETTING, ASSIGNMENT, None, None).seed == WIDE


@pytest.mark.parametrize(
    ("seed", "written"),
    [(7, 7), (2**53 - 1, 2**53 - 1), (2**53, "9007199254740992"), (WIDE, str(WIDE))],
)
def test_a_seed_that_would_be_rounded_is_written_as_text(seed: int, written: int | str) -> None:
    """Readers that keep numbers in double precision get all digits; what they read exactly stays a number."""
    assert json.loads(grade_json.dump(replace(partial_credit(), seed=seed)))["seed"] == written


@pytest.mark.parametrize("seed", ["-1", "1.5", "seven", "٧", "9" * 5000, ""])
@pytest.mark.parametrize("command", ["grade", "check", "trace", "validate", "questions"])
def test_a_seed_is_a_whole_number(command: str, seed: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Anything else is refused before anything is read."""
    with pytest.raises(SystemExit) as ended:
        main([command, "tiled-matmul", "nothing.cu", f"--seed={seed}"])
    assert ended.value.code == 2
    assert "--seed: expected a whole number from 0, of at most 99 digits" in capsys.readouterr().err


@pytest.fixture
def out(tmp_path_factory: pytest.TempPathFactory) -> OutFolder:
    """A new folder."""
    return OutFolder(tmp_path_factory.mktemp("out"))
