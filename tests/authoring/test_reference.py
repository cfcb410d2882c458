"""The first assignment: what is bundled with it is complete and fits together."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from grader.grading.assignment import expand_cases
from grader.grading.oracle import load_oracle
from grader.model import Visibility
from tests.bundled import bundled, read_table
from tests.mistakes import mistake, mistake_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.model import Case

ROOT = Path(__file__).parents[2]
MATMUL = ROOT / "reference" / "matmul"
FOLDER = ROOT / "assignments" / "tiled-matmul"
CORRECT = ROOT / "tests" / "kernels" / "correct"
SAMPLE_CLASS = ROOT / "tests" / "sample_class"

ASSIGNMENT = bundled("tiled-matmul")
CASES = expand_cases(ASSIGNMENT, seed=1)
ITEMS = {item.id: item for item in ASSIGNMENT.rubric}
MISTAKES: dict[str, dict[str, Any]] = read_table(MATMUL / "mistakes" / "mistakes.yaml")


class Shape(NamedTuple):
    """A is m by k, B is k by n."""

    m: int
    k: int
    n: int


def _shape(case: Case) -> Shape:
    extents = dict(case.shape)
    return Shape(extents["M"], extents["K"], extents["N"])


def _tagged(tag: str) -> list[Shape]:
    return [_shape(case) for case in CASES if tag in case.tags]


# --- cases and rubric -----------------------------------------------------------------------------------


def test_the_rubric_adds_up_to_100_points() -> None:
    """A full score is 100, and the items come in the order in which a student meets them."""
    assert list(ITEMS) == ["compiles", "aligned", "edges", "barriers", "memory", "reuse", "speedup"]
    assert sum(item.points for item in ASSIGNMENT.rubric) == Fraction(100)


def test_every_item_has_a_title_and_a_hint() -> None:
    """No point is lost without a hint."""
    assert all(item.title and item.hint for item in ASSIGNMENT.rubric)


def test_an_empty_kernel_can_only_earn_the_point_for_compiling() -> None:
    """A kernel makes no mistake in what it does not do, so everything else needs a right result first."""
    for name in ("barriers", "memory", "reuse", "speedup"):
        assert "aligned" in ITEMS[name].needs
    assert ITEMS["compiles"].points == Fraction(10)


@pytest.mark.parametrize(
    "wanted",
    [
        lambda s: s.m == s.k == s.n and s.m % 32 == 0 and s.k // 16 >= 3,
        lambda s: s.m == s.k == s.n and s.m % 16 != 0,
        lambda s: s.m > s.n > 1,
        lambda s: 1 < s.m < s.n,
        lambda s: s.k == 1 and s.m > 1 < s.n,
        lambda s: s.n < 16 < s.m,
        lambda s: s.m < 16 < s.n,
        lambda s: s.m == s.k == s.n == 1,
        lambda s: s.m == s.n == 1 and s.k > 1,
        lambda s: s.k > 2 * 32 and s.m < 16,
        lambda s: s == (55, 48, 43),
        lambda s: len(set(s)) == 3 and not {s.m % 32, s.k % 32, s.n % 32} & {0},
    ],
    ids=[
        "aligned square with three tiles along K",
        "non-aligned square",
        "tall",
        "wide",
        "K = 1",
        "N smaller than a tile",
        "M smaller than a tile",
        "single element",
        "dot product",
        "many tiles along K",
        "worked traffic example",
        "all different and not aligned",
    ],
)
def test_the_cases_cover_the_shapes_that_tell_kernels_apart(wanted: Callable[[Shape], bool]) -> None:
    """Each kind of shape that some wrong kernel stumbles over is among the cases."""
    assert any(wanted(_shape(case)) for case in CASES)


def test_aligned_cases_are_squares_of_whole_tiles_for_every_usual_tile() -> None:
    """`aligned` holds for tiles of 2, 4, 8, 16 and 32 alike; `rectangular` likewise, but is not square."""
    assert len(_tagged("aligned")) >= 2
    assert all(m == k == n and m % 32 == 0 for m, k, n in _tagged("aligned"))
    assert all(m % 32 == k % 32 == n % 32 == 0 and m != n for m, k, n in _tagged("rectangular"))


def test_no_case_is_larger_than_an_emulator_likes() -> None:
    """Every case has at most 64³ products, and at most nine of them are shown."""
    assert max(m * k * n for m, k, n in map(_shape, CASES)) <= 64**3
    assert sum(case.visibility is Visibility.VISIBLE for case in CASES) <= 9


def test_every_kind_of_inputs_is_known_and_in_use() -> None:
    """The cases of all products ask for what the oracle can make, and leave none of it out."""
    products = ("naive-matmul", "tiled-matmul-square", "matmul-speedup")
    others = (plan for name in products for plan in bundled(name).cases)
    program = bundled("matmul-program")
    items = {str(dict(item.options).get("inputs", "")) for item in program.rubric} - {""}
    used = {case.inputs for case in CASES} | {plan.inputs for plan in others} | items
    assert used == set(load_oracle(MATMUL).kinds)


def test_hidden_cases_are_shapes_that_the_visible_ones_do_not_give_away() -> None:
    """No hidden case repeats a visible one; a random draw might, and then the others are still there."""
    chosen = [case for case in CASES if not case.id.startswith("random")]
    visible = {(_shape(case), case.inputs) for case in chosen if case.visibility is Visibility.VISIBLE}
    hidden = {(_shape(case), case.inputs) for case in chosen if case.visibility is Visibility.HIDDEN}
    assert hidden
    assert not hidden & visible


# --- what the student is given --------------------------------------------------------------------------


def test_the_handout_states_the_points_of_the_rubric() -> None:
    """The table in README.md lists each item's points, in order."""
    table = re.findall(r"^\| (\d+) +\|", (FOLDER / "README.md").read_text("utf-8"), re.MULTILINE)
    assert [Fraction(points) for points in table] == [item.points for item in ASSIGNMENT.rubric]


def test_the_skeleton_has_the_interface_and_no_solution() -> None:
    """The skeleton declares the kernel as the assignment does, and stores nothing."""
    text = (FOLDER / "skeleton.cu").read_text("utf-8")
    assert "void tiledMatMul(float* A, float* B, float* C, int M, int K, int N)" in text
    assert re.sub(r"//.*", "", text).partition("{")[2].strip() == "}"


# --- what the staff keeps -------------------------------------------------------------------------------


def test_mistakes_and_their_descriptions_match() -> None:
    """Every file is described, and nothing else is."""
    assert mistake_names(MATMUL / "mistakes") == sorted(MISTAKES)


def test_no_two_mistakes_share_a_title_or_a_text() -> None:
    """Each file is a mistake of its own."""
    assert len({described["title"] for described in MISTAKES.values()}) == len(MISTAKES)
    assert len({mistake(MATMUL / "mistakes" / name) for name in MISTAKES}) == len(MISTAKES)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_loses_items_that_exist_and_those_that_need_them(name: str) -> None:
    """`loses` is not empty, in the rubric's order, closed under `needs`, and silent about `speedup`."""
    assert set(MISTAKES[name]) - {"of", "edits"} == {"title", "wrong", "loses", "first"}
    loses = MISTAKES[name]["loses"]
    judged = [item for item in ITEMS if item != "speedup"]
    assert loses == [item for item in judged if item in loses]
    assert loses
    for item in judged:
        assert item in loses or not set(ITEMS[item].needs) & set(loses)


@pytest.mark.parametrize("item", ["compiles", "aligned", "edges", "barriers", "memory", "reuse"])
def test_every_item_is_lost_by_some_mistake(item: str) -> None:
    """No item of the rubric is there for nothing."""
    assert any(item in mistake["loses"] for mistake in MISTAKES.values())


@pytest.mark.parametrize("item", ["edges", "barriers", "memory", "reuse"])
def test_an_item_can_be_lost_alone(item: str) -> None:
    """Some mistake costs this item and no other, so that the items tell mistakes apart."""
    assert any(mistake["loses"] == [item] for mistake in MISTAKES.values())


@pytest.mark.parametrize("name", ["naive.cu", "solution.cu", "double_buffered.cu"])
def test_staff_kernels_carry_the_name_that_the_assignment_asks_for(name: str) -> None:
    """They are built and launched through the same interface as a submission."""
    assert f"void {ASSIGNMENT.kernel.kernel}(" in (MATMUL / name).read_text("utf-8")


# --- what the tests grade -------------------------------------------------------------------------------


def test_the_correct_kernels_are_many_and_name_their_style() -> None:
    """At least forty files, no two alike, each with its style in the first line."""
    texts = [path.read_bytes() for path in CORRECT.glob("*.cu")]
    assert len(set(texts)) == len(texts) >= 40
    assert all(re.match(rb"(\xef\xbb\xbf)?(//|/\*) style: ", text) for text in texts)


def test_the_sample_class_has_a_folder_per_student() -> None:
    """At least a dozen students, among them an empty file, none at all, and two at once."""
    files = {folder.name: sorted(folder.glob("*.cu")) for folder in SAMPLE_CLASS.iterdir()}
    assert len(files) >= 14
    assert {len(found) for found in files.values()} == {0, 1, 2}
    assert any(path.stat().st_size == 0 for found in files.values() for path in found)


def test_line_ends_and_encodings_survive_a_checkout() -> None:
    """The files that are there for their bytes still have them."""
    for path in (CORRECT / "crlf_and_bom.cu", SAMPLE_CLASS / "sven" / "Loesung.cu"):
        content = path.read_bytes()
        assert content.startswith(b"\xef\xbb\xbf")
        assert content.count(b"\n") == content.count(b"\r\n") > 10
    with pytest.raises(UnicodeDecodeError):
        (CORRECT / "latin1_comment.cu").read_text("utf-8")
