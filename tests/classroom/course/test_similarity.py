"""Submissions that are alike: whatever they call things, less what everybody was given."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.classroom.batch import OutFolder, class_page
from grader.classroom.course.similarity import similar
from grader.cli import main
from grader.reports.class_page import render_similar
from tests.bundled import bundled
from tests.reports.payloads import PAYLOADS

ROOT = Path(__file__).parents[3]
CLASS = {path.parent.name: path.read_text() for path in (ROOT / "tests/sample_class").glob("*/*.cu")}
GIVEN = [path.read_text() for path in (ROOT / "reference/matmul").glob("*.cu")]
GIVEN += [path.read_text() for path in (ROOT / "assignments/tiled-matmul").glob("*.cu")]


def renamed(text: str) -> str:
    """The text with other names, other numbers of lines and comments of its own."""
    other = re.sub(r"\b(sA|sB|row|col|k|t)\b", r"\1_of_mine", text)
    return "// all my own work\n\n" + other.replace("{\n", "{   // begins\n\n")


def test_who_renames_everything_is_alike() -> None:
    """And comes first, with the lines on both sides."""
    (first, *_), _ = similar({**CLASS, "eve": renamed(CLASS["boris"])}, GIVEN)
    assert (first.first, first.second, first.share) == ("boris", "eve", 1.0)
    assert len(first.first_lines) > 10
    eve = renamed(CLASS["boris"]).split("\n")
    assert all(eve[line - 1].strip() for line in first.second_lines)


def test_several_that_are_the_same_are_reported_once() -> None:
    """Not as a pair each."""
    copies = {name: renamed(CLASS["boris"]) for name in ("eve", "mallory")}
    (first, *others), _ = similar({**CLASS, **copies}, GIVEN)
    assert {first.first, first.second, *first.same} == {"boris", "eve", "mallory"}
    assert not any({"eve", "mallory"} & {pair.first, pair.second} for pair in others)


def test_what_everybody_was_given_makes_no_two_alike() -> None:
    """Two who hand in the skeleton, or what the model solution does."""
    assert similar({"ada": GIVEN[0], "bob": renamed(GIVEN[0])}, GIVEN) == ((), 0)
    assert similar({"ada": CLASS["boris"], "bob": renamed(CLASS["boris"])}, [CLASS["boris"]]) == ((), 0)


def test_what_many_share_makes_no_two_alike() -> None:
    """It is how the task is solved."""
    assert similar({f"s{number}": CLASS["boris"] for number in range(20)}, GIVEN) == ((), 0)


@pytest.mark.parametrize(
    "text", ["", "int", '"' * 5000, "{" * 5000, "\ud800 é \x00" * 200, *PAYLOADS.values()]
)
def test_a_text_that_is_no_code_is_passed_over(text: str) -> None:
    """Nothing is raised, and the others are compared."""
    pairs, _ = similar({"odd": text, "ada": CLASS["boris"], "eve": renamed(CLASS["boris"])}, GIVEN)
    assert [(pair.first, pair.second) for pair in pairs] == [("ada", "eve")]


def test_the_page_shows_both_and_states_what_it_is_not() -> None:
    """Side by side, with the lines marked; payloads are text."""
    payload = "</pre><script>alert(1)</script>"
    texts = {"ada": CLASS["boris"] + f"// {payload}\n", payload: renamed(CLASS["boris"])}
    page = render_similar(payload, similar(texts, GIVEN)[0], {k: v.split("\n") for k, v in texts.items()})
    assert "a place to look, not a verdict" in page
    assert page.count('class="here"') > 20
    assert "<script" not in page
    assert "No two submissions are alike" in render_similar("x", (), {})


def test_the_page_is_written_anew_only_where_a_text_has_changed(tmp_path: Path) -> None:
    """Or where it is missing or damaged: comparing a large class takes its time."""
    out, assignment = OutFolder(tmp_path), bundled("tiled-matmul")
    texts = {"a": CLASS["boris"], "b": renamed(CLASS["boris"])}
    page = tmp_path / "similar.html"

    def written() -> bool:
        class_page.write_similar(out, assignment, {name: text.encode() for name, text in texts.items()})
        is_new = "kept as it was" not in page.read_text(encoding="utf-8")
        page.write_text(page.read_text(encoding="utf-8") + "kept as it was", encoding="utf-8")
        return is_new

    assert [written(), written()] == [True, False]
    texts["b"] += "// another line"
    assert [written(), written()] == [True, False]
    page.write_bytes(b"\xff")
    assert written()


def test_a_part_of_a_class_that_is_graded_again_leaves_the_page_of_all(tmp_path: Path) -> None:
    """Submissions that are not in the part are alike all the same."""
    texts = {"a": CLASS["boris"], "b": renamed(CLASS["boris"]), "c": CLASS["chidi"]}
    for folder, names in (("all", "abc"), ("part", "bc")):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / f"{name}.cu").write_text(texts[name], encoding="utf-8")
    out = tmp_path / "out"
    command = ["grade", "vector-add", "-o", str(out), "--i-trust-these-files"]
    main([*command, str(tmp_path / "all")])
    page = (out / "similar.html").read_text(encoding="utf-8")
    assert "No two submissions" not in page
    main([*command, str(tmp_path / "part"), "--only", "b"])
    assert (out / "similar.html").read_text(encoding="utf-8") == page


def test_of_many_pairs_the_most_alike_are_reported_and_the_others_counted() -> None:
    """Their order does not depend on how many are asked for."""
    names = sorted(CLASS)[:6]
    texts = CLASS | {f"{name}-2": renamed(CLASS[name]) for name in names}
    every, none = similar(texts, GIVEN, most=1000)
    assert len(every) > 3
    assert none == 0
    for most in (1, 2, 3):
        assert similar(texts, GIVEN, most) == (every[:most], len(every) - most)
