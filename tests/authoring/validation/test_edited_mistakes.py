"""Mistakes that are edits of another file: their bytes, and how edits that do not fit are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.authoring.validation.mistakes import mistake_sources
from grader.base.errors import UsageError
from grader.cli import main
from tests.authoring.validation import small_assignment

if TYPE_CHECKING:
    from pathlib import Path

SOLUTION = "// solved\nif (i < N)\n    y[i] = x[i];\nif (i < N)\n    z[i] = x[i];\n"
ENTRY = "{name}:\n  title: a title\n  wrong: It is wrong.\n  loses: [memory]\n"
EDITED = """\
  of: solution.cu
  edits:
    - find: |
        // solved
        if (i < N)
      put: |
        if (i <= N)
    - find: "z[i] = x[i]"
      put: ""
"""


@pytest.fixture
def staff(tmp_path: Path) -> Path:
    """A staff's folder with a model solution, and one mistake that is a file."""
    (tmp_path / "mistakes").mkdir()
    (tmp_path / "solution.cu").write_text(SOLUTION)
    (tmp_path / "mistakes/whole.cu").write_text("// wrong\n")
    (tmp_path / "mistakes/mistakes.yaml").write_text(ENTRY.format(name="whole.cu"))
    return tmp_path


def _add(staff: Path, text: str, name: str = "edited.cu") -> None:
    """Another entry of the table, with this at its end."""
    with (staff / "mistakes/mistakes.yaml").open("a") as table:
        table.write(ENTRY.format(name=name) + text)


def test_a_mistake_is_a_file_or_edits_of_one(staff: Path) -> None:
    """The edits are made one after the other, and all else stays as it is, byte by byte."""
    _add(staff, EDITED)
    assert mistake_sources(staff) == {
        "whole.cu": b"// wrong\n",
        "edited.cu": b"if (i <= N)\n    y[i] = x[i];\nif (i < N)\n    ;\n",
    }


def test_a_mistake_may_be_made_from_another_that_is_a_file(staff: Path) -> None:
    """Its edits apply to the bytes of the file, whatever its line ends are."""
    (staff / "mistakes/whole.cu").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    _add(staff, '  of: mistakes/whole.cu\n  edits: [{find: "e\\r\\nt", put: "é"}]\n')
    assert mistake_sources(staff)["edited.cu"] == b"\xef\xbb\xbfon\xc3\xa9wo\r\n"


def test_an_edit_finds_what_those_before_it_leave(staff: Path) -> None:
    """So one may make a text the only one of its kind for the next."""
    edits = '[{find: "< N)\\n    y", put: "< M)\\n    y"}, {find: "i < N", put: "true"}]'
    _add(staff, f"  of: solution.cu\n  edits: {edits}\n")
    assert b"if (true)\n    z" in mistake_sources(staff)["edited.cu"]


def test_a_folder_without_mistakes_has_none(tmp_path: Path) -> None:
    """No table, no files."""
    assert mistake_sources(tmp_path) == {}


def _edits(find: str, put: str = '""') -> str:
    return f"  of: solution.cu\n  edits:\n    - find: {find}\n      put: {put}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (_edits("w[i]"), "11:13: edited.cu: `find` does not occur in solution.cu"),
        (_edits("if (i < N)"), "11:13: edited.cu: `find` occurs more than once in solution.cu"),
        (_edits('""'), "11:7: edited.cu: expected `find`, a text that is not empty, and `put`"),
        (
            _edits("solved", ""),
            "11:7: edited.cu: expected `find`, a text that is not empty, and `put`, a text",
        ),
        (f"{_edits('solved')}      puts: x\n", "11:7: edited.cu: expected `find`"),
        (
            "  of: solution.cu\n  edits: []\n",
            "10:10: edited.cu: expected a list of edits, each `find`",
        ),
        ("  of: solution.cu\n  edits: solved\n", "10:10: edited.cu: expected a list of edits"),
        ("  of: solution.cu\n", "5:1: edited.cu: `of` and `edits` go together"),
        ("  edits: [{find: a, put: b}]\n", "5:1: edited.cu: `of` and `edits` go together"),
        (EDITED.replace("solution", "solutoin"), "9:7: edited.cu: there is no file `solutoin.cu` in "),
        (EDITED.replace("solution", "solutoin"), "; did you mean `solution.cu`?"),
        (
            EDITED.replace("solution.cu", "mistakes/edited.cu"),
            "`mistakes/edited.cu` is made of edits",
        ),
        (
            EDITED.replace("solution.cu", "../solution.cu"),
            "edited.cu: there is no file `../solution.cu`",
        ),
        (EDITED.replace("solution.cu", ""), "9:6: edited.cu: expected a file as `of`, such as solution.cu"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused_with_its_line(staff: Path, text: str, message: str) -> None:
    """With the file, the place, the mistake, and what was expected."""
    _add(staff, text)
    with pytest.raises(UsageError) as caught:
        mistake_sources(staff)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{staff}/mistakes/mistakes.yaml:")


def test_a_mistake_is_not_a_file_and_edits_at_once(staff: Path) -> None:
    """It would be unknown which of them is meant."""
    (staff / "mistakes/edited.cu").write_text("")
    _add(staff, EDITED)
    with pytest.raises(UsageError, match=r"5:1: edited.cu: lies in mistakes/, and is made of edits"):
        mistake_sources(staff)


@pytest.mark.parametrize("name", ["edited.txt", "../edited.cu", "equivalent.yaml"])
def test_a_mistake_has_the_name_of_a_file_that_may_be_handed_in(staff: Path, name: str) -> None:
    """As a file in the folder has."""
    _add(staff, EDITED, name)
    with pytest.raises(UsageError, match="expected the name of a file that ends in"):
        mistake_sources(staff)


# --- the command ----------------------------------------------------------------------------------------

TABLE = (
    "no_guard.cu:\n  title: no guard\n  wrong: It stores outside.\n  loses: [right, memory]\n"
    '  of: solution.cu\n  edits:\n    - {find: "if (i < N) ", put: ""}\n'
)


def test_a_mistake_is_shown_whole(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """As it would be handed in, and nothing else; whether it is a file or edits of one."""
    home = small_assignment.write(tmp_path)
    mistakes = tmp_path / "reference/double/mistakes"
    assert main(["validate", str(home), "--show", "no_guard.cu"]) == 0
    shown = capfdbinary.readouterr().out
    assert shown == (mistakes / "no_guard.cu").read_bytes()
    (mistakes / "no_guard.cu").unlink()
    (mistakes / "mistakes.yaml").write_text(TABLE)
    assert main(["validate", str(home), "--show", "no_guard.cu"]) == 0
    assert capfdbinary.readouterr().out == shown


def test_a_mistake_that_there_is_not_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the one that may be meant."""
    home = small_assignment.write(tmp_path)
    assert main(["validate", str(home), "--show", "noguard.cu"]) == 2
    assert "no mistake `noguard.cu`; did you mean `no_guard.cu`?" in capsys.readouterr().err
