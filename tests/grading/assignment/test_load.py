"""Assignments that load, and files beside them."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from grader.base.arithmetic import Name, parse
from grader.base.errors import SpecError
from grader.grading.assignment import (
    bundled_ids,
    find_assignment,
    load_assignment,
    staff_folder,
    staff_kernel,
)
from grader.grading.assignment.document import MAX_BYTES
from grader.model import (
    AnswersInterface,
    CasePlan,
    Constant,
    OutputJudge,
    Parameter,
    RubricItem,
    Threshold,
    TimingPlan,
    Visibility,
)
from grader.model.messages import clause
from tests.grading.assignment.conftest import SOUND

if TYPE_CHECKING:
    from pathlib import Path

    from tests.grading.assignment.conftest import Write


def changed(old: str, new: str) -> str:
    """The sound assignment with one thing changed."""
    assert SOUND.count(old) == 1
    return SOUND.replace(old, new)


def test_a_sound_assignment_becomes_a_record(write: Write) -> None:
    """Every part of the file is where the record has it, with the defaults filled in."""
    folder = write()
    assignment = load_assignment(folder)
    assert (assignment.id, assignment.title, assignment.reference) == ("scale", "Scale a vector", "scaling")
    assert assignment.path == folder.resolve()
    assert assignment.kernel.kernel == "scale"
    assert assignment.kernel.parameters == (
        Parameter("x", "in", "float32", (Name("N"),)),
        Parameter("y", "out", "float32", (Name("N"),)),
        Parameter("N", "value", "int32", (), Name("N")),
    )
    assert assignment.kernel.constants == (Constant("BLOCK_SIZE", 128),)
    assert assignment.kernel.block == (Name("BLOCK_SIZE"),)
    assert assignment.kernel.grid == (parse("ceil(N / BLOCK_SIZE)"),)
    assert assignment.kernel.shared is None
    assert assignment.cases == (
        CasePlan("whole", (("N", (256, 256)),), ("aligned",)),
        CasePlan("odd", (("N", (55, 55)),), ("non-aligned",)),
        CasePlan("random", (("N", (1, 80)),), ("non-aligned",), draws=2),
    )
    assert assignment.timing == TimingPlan((("N", 4096),), "naive")
    assert assignment.rubric == (
        RubricItem("compiles", "compiles: compiles", Fraction(10), "compile"),
        RubricItem("right", "right: right answers", Fraction(90), "output", (), ("compiles",), "per-case"),
    )


def test_a_scalar_may_be_a_fraction_and_a_grid_rounded_down(write: Write) -> None:
    """`0.5`, `1 / 2` and `floor(…)` are expressions as the others are."""
    text = changed("    N: int32\n", "    N: int32\n    a: float32 = 0.5\n    b: float64 = 1 / N\n")
    text = text.replace("ceil(N / BLOCK_SIZE)", "floor(N / BLOCK_SIZE) + 1")
    kernel = load_assignment(write(text)).kernel
    assert [str(parameter.value) for parameter in kernel.parameters[3:]] == ["0.5", "1 / N"]
    assert kernel.grid == (parse("floor(N / BLOCK_SIZE) + 1"),)


def test_a_whole_scalar_is_no_fraction(write: Write) -> None:
    """A value that an `int` cannot hold is reported with the shape it happens in."""
    text = changed("    N: int32\n", "    N: int32 = N / 2\n")
    with pytest.raises(
        SpecError, match=r"cases\[1\].shape: in this shape `N / 2` is 55/2, not a whole number"
    ):
        load_assignment(write(text))


def test_what_is_wrong_in_every_shape_is_reported_once(write: Write) -> None:
    """A block of 2048 threads is one mistake, however many cases there are."""
    text = SOUND.replace("block: [BLOCK_SIZE]", "block: [2048]")
    assert text != SOUND
    with pytest.raises(SpecError) as caught:
        load_assignment(write(text))
    assert str(caught.value).count("a block would be 2048") == 1
    assert "submission: in every shape a block would be 2048; expected at most 1024" in str(caught.value)


def test_the_file_itself_may_be_named(write: Write) -> None:
    """A folder and the assignment.yaml in it are the same assignment."""
    folder = write()
    assert load_assignment(folder / "assignment.yaml") == load_assignment(folder)


@pytest.mark.parametrize("name", bundled_ids())
def test_every_bundled_assignment_loads(name: str) -> None:
    """Each is sound, is called like its folder, and has a solution for the staff."""
    assignment = load_assignment(find_assignment(name))
    assert assignment.id == name
    if isinstance(assignment.interface, AnswersInterface):
        assert (staff_folder(assignment) / "solution.yaml").is_file()
    else:
        assert staff_kernel(assignment, "solution").is_file()


def test_the_gpu_may_be_asked_about_undefined_outputs(write: Write) -> None:
    """The emulator decides unless the file asks for the GPU; no other judge is known."""
    assert load_assignment(write()).undefined_outputs is OutputJudge.EMULATOR
    changed = load_assignment(write(f"undefined_outputs: gpu\n{SOUND}"))
    assert changed.undefined_outputs is OutputJudge.GPU
    with pytest.raises(SpecError, match="undefined_outputs"):
        load_assignment(write(f"undefined_outputs: oracle\n{SOUND}"))


def test_advice_may_be_switched_off(write: Write) -> None:
    """A course does so if advice would be the next lesson; without the key there is some."""
    assert load_assignment(write()).advice
    changed = load_assignment(write(f"advice: false\n{SOUND}"))
    assert not changed.advice
    with pytest.raises(SpecError, match=r":1:9: advice: expected `true` or `false`"):
        load_assignment(write(f"advice: never\n{SOUND}"))


def test_points_and_thresholds_are_exact(write: Write) -> None:
    """0.10 is a tenth, not the nearest float."""
    traffic = "{id: t, points: 0.1, check: traffic, metric: flops, baseline: naive, at_most: 0.10}"
    item = load_assignment(write(f"{SOUND}  - {traffic}\n")).rubric[-1]
    assert item.points == Fraction(1, 10)
    assert item.options == (("metric", "flops"), ("baseline", "naive"), ("at_most", Fraction(1, 10)))


def test_the_options_of_a_check_are_in_its_item(write: Write) -> None:
    """A speedup has its steps, races their severity, also where the file does not say it."""
    items = (
        "  - {id: fast, points: 1, check: speedup, baseline: naive, none_below: 1.0, full_at: 1.0}\n"
        "  - {id: races, points: 1, check: races}\n"
        "  - {id: some-races, points: 1, check: races, severity: error, cases: [aligned, odd], hint: Wait}\n"
    )
    fast, races, some_races = load_assignment(write(SOUND + items)).rubric[2:]
    assert fast.options == (("baseline", "naive"), ("steps", ((Threshold(Fraction(1)), Fraction(1)),)))
    assert races.options == (("severity", "warning"),)
    assert (some_races.options, some_races.cases, some_races.hint) == (
        (("severity", "error"),),
        ("aligned", "odd"),
        "Wait",
    )


def test_a_constant_may_have_aliases(write: Write) -> None:
    """The long form of a constant names what else it may be called."""
    text = changed("BLOCK_SIZE: 128", "BLOCK_SIZE: {default: 64, aliases: [THREADS]}")
    assert load_assignment(write(text)).kernel.constants == (Constant("BLOCK_SIZE", 64, ("THREADS",)),)


def wanted(constant: Constant, value: int) -> str:
    """The requirement of a constant that a value does not meet, in words; empty where it does."""
    asked = constant.wanted_instead_of(value)
    return "" if asked is None else clause(asked)


def test_a_constant_may_say_which_values_will_do(write: Write) -> None:
    """A multiple, a largest value, a power of two; any other is reported with what is needed."""
    text = changed("BLOCK_SIZE: 128", "BLOCK_SIZE: {default: 64, multiple_of: 32, at_most: 1024}")
    (constant,) = load_assignment(write(text)).kernel.constants
    assert [wanted(constant, value) for value in (96, 100, 2048)] == [
        "",
        "a multiple of 32",
        "at most 1024",
    ]
    text = changed("BLOCK_SIZE: 128", "BLOCK_SIZE: {default: 64, power_of_two: true}")
    (constant,) = load_assignment(write(text)).kernel.constants
    assert [wanted(constant, value) for value in (16, 24, 0)] == [
        "",
        "a power of two",
        "a power of two",
    ]


def test_the_default_of_a_constant_is_one_of_the_values_that_will_do(write: Write) -> None:
    """Or else it is a mistake of the staff's."""
    text = changed("BLOCK_SIZE: 128", "BLOCK_SIZE: {default: 100, multiple_of: 32}")
    with pytest.raises(
        SpecError, match="expected a multiple of 32, as the constant says of itself, found 100"
    ):
        load_assignment(write(text))


def test_a_scalar_parameter_may_have_a_value_of_its_own(write: Write) -> None:
    """`int32 = N` gives a parameter that is not called like a dimension."""
    text = changed("    N: int32", "    n: uint64 = N * 2\n    two: float32 = 2")
    *_, n, two = load_assignment(write(text)).kernel.parameters
    assert (n.name, n.dtype, n.value) == ("n", "uint64", parse("N * 2"))
    assert (two.dtype, two.value) == ("float32", parse("2"))


def test_a_single_value_stands_for_a_list_of_one(write: Write) -> None:
    """Block, grid, tags, cases and needs need no brackets around one value."""
    text = changed("[BLOCK_SIZE]", "BLOCK_SIZE").replace("[ceil(N / BLOCK_SIZE)]", "ceil(N / BLOCK_SIZE)")
    text = text.replace("needs: [compiles]", "needs: compiles, cases: odd").replace("[aligned]", "aligned")
    assignment = load_assignment(write(text))
    assert (assignment.kernel.block, assignment.rubric[1].needs) == ((Name("BLOCK_SIZE"),), ("compiles",))
    assert (assignment.rubric[1].cases, assignment.cases[0].tags) == (("odd",), ("aligned",))


def test_dynamic_shared_memory_inputs_and_visibility_are_read(write: Write) -> None:
    """These are the keys that the short example leaves out."""
    text = changed("    block:", "    shared: 4 * BLOCK_SIZE\n    block:").replace(
        "tags: [aligned]", "inputs: small-integers, visibility: after_due_date"
    )
    assignment = load_assignment(write(text))
    assert assignment.kernel.shared == parse("4 * BLOCK_SIZE")
    assert assignment.cases[0].inputs == "small-integers"
    assert assignment.cases[0].visibility is Visibility.AFTER_DUE_DATE


def test_a_shape_may_have_a_dimension_for_the_oracle_alone(write: Write) -> None:
    """A dimension that every shape gives is known, also where no expression uses it."""
    text = SOUND.replace("shape: {N:", "shape: {rank: 3, N:")
    assert load_assignment(write(text)).cases[0].shape == (("rank", (3, 3)), ("N", (256, 256)))


def test_a_header_of_the_course_is_read_in(write: Write) -> None:
    """`include` names files beside the assignment; their text travels in the record."""
    folder = write(changed("  kernel: scale", "  kernel: scale\n  include: [support.h]"))
    (folder / "support.h").write_text("#define CHECK(x) x  // ✓\n")
    assert load_assignment(folder).kernel.include == (("support.h", "#define CHECK(x) x  // ✓\n"),)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no file `support.h` beside the assignment"),
        (b"\xff", "`support.h` is not UTF-8 text"),
        (b" " * (256 * 1024 + 1), "expected at most 256 KiB in `support.h`"),
    ],
)
def test_a_header_that_cannot_be_used_is_a_problem(write: Write, content: bytes | None, message: str) -> None:
    """Missing, not text or too large: the message points at its place in the list."""
    folder = write(changed("  kernel: scale", "  kernel: scale\n  include: [support.h]"))
    if content is not None:
        (folder / "support.h").write_bytes(content)
    with pytest.raises(SpecError) as caught:
        load_assignment(folder)
    assert str(caught.value) == f"{folder}/assignment.yaml:7:13: submission.include[0]: {message}"


def test_a_header_cannot_come_from_elsewhere(write: Write, tmp_path: Path) -> None:
    """A link out of the assignment's folder is not followed."""
    folder = write(changed("  kernel: scale", "  kernel: scale\n  include: [support.h]"))
    (tmp_path / "secret").write_text("secret")
    (folder / "support.h").symlink_to(tmp_path / "secret")
    with pytest.raises(SpecError, match=r"`support\.h` leads out of the assignment's folder"):
        load_assignment(folder)


def test_the_digest_changes_with_everything_that_decides_a_grade(write: Write, tmp_path: Path) -> None:
    """The file, a header and the reference count; what merely lies beside them does not."""
    text = changed("  kernel: scale", "  kernel: scale\n  include: [support.h]")
    folder = write(text)
    (folder / "support.h").write_text("// one\n")
    digests = [load_assignment(folder).digest]
    (folder / "support.h").write_text("// two\n")
    digests.append(load_assignment(folder).digest)
    (tmp_path / "reference" / "scaling" / "naive.cu").write_text("// three\n")
    digests.append(load_assignment(folder).digest)
    for budget in ("0.5", "0.6"):
        (folder / "assignment.yaml").write_text(
            text.replace("{shape: {N: 4096}", f"{{budget: {budget}, shape: {{N: 4096}}")
        )
        digests.append(load_assignment(folder).digest)
    assert len(set(digests)) == 5
    (folder / "notes.txt").write_text("five")
    (tmp_path / "reference" / "scaling" / "__pycache__").mkdir()
    (tmp_path / "reference" / "scaling" / "__pycache__" / "oracle.pyc").write_text("six")
    assert load_assignment(folder).digest == digests[-1]


def test_a_path_without_an_assignment_is_refused(tmp_path: Path) -> None:
    """The message names the file that was looked for."""
    with pytest.raises(SpecError) as caught:
        load_assignment(tmp_path)
    expected = "expected an assignment here; there is no such file"
    assert str(caught.value) == f"{tmp_path}/assignment.yaml: {expected}"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """An assignment.yaml that is no regular file is none."""
    os.mkfifo(tmp_path / "assignment.yaml")
    with pytest.raises(SpecError, match="there is no such file"):
        load_assignment(tmp_path)


def test_a_file_that_is_too_large_is_not_parsed(write: Write) -> None:
    """The limit stands in the message."""
    with pytest.raises(SpecError, match="expected at most 128 KiB; this is larger"):
        load_assignment(write("#" * (MAX_BYTES + 1)))


@pytest.mark.parametrize(
    ("content", "place", "message"),
    [
        (b"id: a\ntitle: \xff\xfe\n", "2:8", "not UTF-8 text"),
        (b"id: a\ntitle: x\x1b[2J\n", "2:9", "character U+001B is not allowed in YAML"),
        (b"id: \x00\n", "1:5", "character U+0000 is not allowed in YAML"),
        (b"", "1:1", "the file is empty; expected an assignment"),
    ],
)
def test_bytes_that_are_no_yaml_are_refused_with_their_place(
    write: Write, content: bytes, place: str, message: str
) -> None:
    """Line and column count characters from 1."""
    folder = write(content)
    with pytest.raises(SpecError) as caught:
        load_assignment(folder)
    assert str(caught.value) == f"{folder}/assignment.yaml:{place}: {message}"


def test_a_byte_order_mark_and_windows_line_ends_are_no_problem(write: Write) -> None:
    """Editors on Windows write both."""
    assert load_assignment(write(b"\xef\xbb\xbf" + SOUND.replace("\n", "\r\n").encode())).id == "scale"
