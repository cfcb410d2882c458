"""`cp.async`: what a thread sees before and after it has waited, from PTX and from CUDA programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.base.errors import UnsupportedPtx
from grader.model import Argument, FindingKind, Run
from tests.simulation.emulator.instructions.builds import BUILDS, built
from tests.simulation.emulator.instructions.harness import HEADER, launch
from tests.simulation.emulator.launching import Compiled, only, zeros

Array = np.ndarray[Any, Any]
ASYNCHRONOUS = [build for build in BUILDS if build[0] >= 80]
STALE = 7

KERNEL = """
.visible .entry kernel(.param .u64 values, .param .u64 result)
{{
    .shared .align 16 .b8 tile[512];
    .reg .b32 %i, %s, %n, %a, %b, %c, %e; .reg .b64 %p, %r, %o, %policy; .reg .pred %q, %t;
    mov.u32 %i, %tid.x; mov.b64 %policy, 0; setp.lt.u32 %q, %i, 8; setp.eq.u32 %t, %i, %i;
    mul.wide.u32 %o, %i, 16;
    ld.param.u64 %p, [values]; add.s64 %p, %p, %o; ld.param.u64 %r, [result]; add.s64 %r, %r, %o;
    shl.b32 %n, %i, 4; mov.u32 %s, tile; add.u32 %s, %s, %n;
    mov.u32 %a, 7; st.shared.v4.u32 [%s], {{%a, %a, %a, %a}};
    {body}
    ld.shared.v4.u32 {{%a, %b, %c, %e}}, [%s]; st.global.v4.u32 [%r], {{%a, %b, %c, %e}};
    cp.async.wait_all;
    ret;
}}
"""
"""Each of 32 threads has 16 bytes of shared memory, full of sevens, and 16 of its own in global memory."""


def _run(body: str, values: Array) -> Run:
    arguments = (Argument("values", "in", values), Argument("result", "out", np.zeros((32, 4), "u4")))
    return launch(HEADER + KERNEL.format(body=body), arguments)


def _seen(body: str, values: Array, *, early: bool = False) -> Array:
    """The values that each thread finds in shared memory after ``body``, perhaps too ``early``: (32, 4)."""
    done = _run(body, values)
    kinds = {finding.kind for finding in done.findings}
    assert kinds == ({FindingKind.RACE} if early else set()), done.findings
    return done.outputs[0][1]


@pytest.fixture
def values() -> Array:
    """Four words for each thread of a warp."""
    return np.random.default_rng(2).integers(1 << 32, size=(32, 4)).astype("u4")


WAITS = ["cp.async.wait_all;", "cp.async.commit_group; cp.async.wait_group 0;"]


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize(
    ("form", "size"),
    [
        ("ca.shared.global", 4),
        ("ca.shared.global", 8),
        ("ca.shared::cta.global.L2::128B", 16),
        ("cg.shared.global", 16),
        ("cg.shared.global.L2::256B", 16),
    ],
)
def test_a_copy_lands_when_it_is_waited_for(values: Array, form: str, size: int, wait: str) -> None:
    """The first bytes of each thread's own, and the rest as it was."""
    got = _seen(f"cp.async.{form} [%s], [%p], {size}; {wait}", values)
    words = size // 4
    assert np.array_equal(got[:, :words], values[:, :words])
    assert (got[:, words:] == STALE).all()


@pytest.mark.parametrize(
    "wait", ["", "cp.async.commit_group;", "cp.async.commit_group; cp.async.wait_group 1;"]
)
def test_before_the_wait_the_old_content_is_seen(values: Array, wait: str) -> None:
    """A commit alone completes nothing, and neither does a wait that lets this group go on."""
    assert (_seen(f"cp.async.cg.shared.global [%s], [%p], 16; {wait}", values, early=True) == STALE).all()


def test_a_wait_completes_all_but_the_latest_groups(values: Array) -> None:
    """Of three groups the oldest has landed, an empty group counts, and what is in none is not waited for."""
    word = "cp.async.ca.shared.global [%s+{0}], [%p+{0}], 4;"
    body = word.format(0) + "cp.async.commit_group;" + word.format(4) + "cp.async.commit_group;"
    body += "cp.async.commit_group;" + word.format(8) + "cp.async.wait_group {};"
    for pending, landed in ((0, 2), (1, 2), (2, 1), (3, 0)):
        got = _seen(body.replace("{}", str(pending)), values, early=True)
        assert np.array_equal(got[:, :landed], values[:, :landed])
        assert (got[:, landed:] == STALE).all()


def test_a_shorter_source_is_filled_up_with_zeros(values: Array) -> None:
    """A different number of bytes for each thread, from none at all to more than there are."""
    got = _seen("cp.async.cg.shared.global [%s], [%p], 16, %i; cp.async.wait_all;", values)
    expected = values.view("u1").reshape(32, 16).copy()
    for thread in range(32):
        expected[thread, thread:] = 0
    assert np.array_equal(got.view("u1"), expected)


@pytest.mark.parametrize("policy", ["", ".L2::cache_hint"])
def test_an_ignored_source_gives_zeros_and_is_not_touched(values: Array, policy: str) -> None:
    """The first 8 threads ignore an address that belongs to no array."""
    more = ", %policy" if policy else ""
    body = f"@%q mov.b64 %p, 16;cp.async.ca.shared.global{policy} [%s], [%p], 8, %q{more}; cp.async.wait_all;"
    got = _seen(body, values)
    assert (got[:8, :2] == 0).all()
    assert np.array_equal(got[8:, :2], values[8:, :2])
    assert (got[:, 2:] == STALE).all()


def test_only_the_lanes_whose_predicate_holds_copy(values: Array) -> None:
    """The others' memory stays as it was."""
    got = _seen("@%q cp.async.cg.shared.global [%s], [%p], 16; cp.async.wait_all;", values)
    assert np.array_equal(got[:8], values[:8])
    assert (got[8:] == STALE).all()


def test_lanes_wait_each_for_their_own_copies(values: Array) -> None:
    """A wait on one side of a branch completes the copies of those lanes alone."""
    body = "cp.async.cg.shared.global [%s], [%p], 16; @!%q bra $PAST; cp.async.wait_all; $PAST:"
    got = _seen(body, values, early=True)
    assert np.array_equal(got[:8], values[:8])
    assert (got[8:] == STALE).all()


REFUSED = [
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%p], 16, [%s];",
    "cp.async.cg.shared.global [%s], [%p], 4;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%p], [%s], 16;",
    "cp.async.ca.shared.global [%s], [%p], 12;",
]


@pytest.mark.parametrize("text", REFUSED, ids=[text.split(" ")[0] for text in REFUSED])
def test_other_asynchronous_copies_are_refused_as_our_limit(values: Array, text: str) -> None:
    """Bulk copies, and sizes that there are not."""
    with pytest.raises(UnsupportedPtx, match=text.split(" ", maxsplit=1)[0]):
        _run(text, values)


@pytest.fixture(params=BUILDS, ids=lambda build: f"sm_{build[0]}-{'O0' if build[1] else 'O3'}")
def program(request: pytest.FixtureRequest) -> Compiled:
    """The file of programs, in each build; before sm_80 the headers copy without `cp.async`."""
    device, detect = request.param
    return built("async_copy.cu", device, detect=detect)


def _product(program: Compiled, kernel: str, blocks: tuple[int, int], tiles: int) -> tuple[Run, Array]:
    """The run of a double-buffered product, and what is right."""
    (n, m), k = (16 * blocks[0], 16 * blocks[1]), 16 * tiles
    draw = np.random.default_rng(9)
    a, b = (draw.integers(-4, 5, shape).astype("f4") for shape in ((m, k), (k, n)))
    arguments = (a, b, zeros(m, n), np.int32(n), np.int32(k))
    return program.run(kernel, (*blocks, 1), (16, 16, 1), *arguments, directions="iio"), a @ b


def test_the_double_buffered_product_is_right(program: Compiled) -> None:
    """The wait and both barriers in their places: the product, and nothing to report."""
    done, expected = _product(program, "pipelined", (3, 2), 5)
    assert not done.findings, done.findings[0].message
    assert np.array_equal(dict(done.outputs)["C"], expected)


@pytest.mark.parametrize(("device", "detect"), ASYNCHRONOUS)
def test_without_the_wait_the_product_is_made_of_stale_tiles(device: int, *, detect: bool) -> None:
    """Nothing ever lands: no element is right."""
    done, expected = _product(built("async_copy.cu", device, detect=detect), "without_wait", (1, 1), 2)
    assert not (dict(done.outputs)["C"] == expected).any()
    assert not detect or any(finding.kind == FindingKind.RACE for finding in done.findings)


@pytest.mark.parametrize("device", [80, 90])
def test_without_the_barrier_the_copies_of_others_race(device: int) -> None:
    """A thread's wait does not order the copies of other threads."""
    program = built("async_copy.cu", device, detect=True)
    done, _ = _product(program, "without_barrier", (1, 1), 2)
    assert any(finding.kind == FindingKind.RACE for finding in done.findings)


def test_copies_of_each_size_arrive(program: Compiled) -> None:
    """16, 8 and 4 bytes, each in a group of its own."""
    a = np.arange(448, dtype="f4")
    done = program.run("sizes", (1, 1, 1), (64, 1, 1), a, zeros(448), directions="io")
    assert not done.findings, done.findings[0].message
    assert np.array_equal(dict(done.outputs)["B"], a[::-1])


def test_a_copy_with_a_tail_of_zeros(program: Compiled) -> None:
    """`__pipeline_memcpy_async(to, from, 16, 8)`."""
    a = np.arange(1, 129, dtype="f4")
    done = program.run("padded", (1, 1, 1), (32, 1, 1), a, zeros(128), directions="io")
    assert not done.findings, done.findings[0].message
    assert np.array_equal(dict(done.outputs)["B"], np.where(np.arange(128) % 4 < 2, a, 0))


@pytest.mark.parametrize("count", [256, 101])
def test_a_cooperative_copy_arrives(program: Compiled, count: int) -> None:
    """`cooperative_groups::memcpy_async` with `cg::wait`."""
    a = np.arange(256, dtype="f4")
    done = program.run("cooperative", (1, 1, 1), (256, 1, 1), a, zeros(256), np.int32(count), directions="io")
    assert not done.findings, done.findings[0].message
    assert np.array_equal(dict(done.outputs)["B"][:count], a[:count][::-1])


def test_a_pipeline_of_a_thread_works(program: Compiled) -> None:
    """`cuda::pipeline` at thread scope is made of groups."""
    a = np.arange(64, dtype="f4")
    done = program.run("thread_pipeline", (1, 1, 1), (64, 1, 1), a, zeros(64), directions="io")
    assert not done.findings, done.findings[0].message
    assert np.array_equal(dict(done.outputs)["B"], a)


def test_a_copy_counts_as_a_load_and_a_store() -> None:
    """16, 8 and 4 bytes of 64 threads from whole sectors, each request in as few passes as can be."""
    program = built("async_copy.cu", 80, detect=False)
    done = program.run("sizes", (1, 1, 1), (64, 1, 1), zeros(448), zeros(448), directions="io")
    counters = done.counters
    assert (counters.global_load_bytes, counters.global_load_sectors) == (1792, 56)
    assert (counters.shared_store_bytes, counters.shared_bank_conflicts) == (1792, 0)


@pytest.mark.parametrize(
    ("kernel", "threads", "length", "kind", "line"),
    [
        ("past_the_end", 64, 60, FindingKind.OUT_OF_BOUNDS, "// A has 60 elements"),
        ("past_the_tile", 64, 64, FindingKind.OUT_OF_BOUNDS, "// s has 60 elements"),
        ("crooked", 32, 132, FindingKind.MISALIGNED, "// not a multiple of 16 bytes"),
    ],
)
def test_a_bad_address_is_reported_at_the_copy(
    kernel: str, threads: int, length: int, kind: FindingKind, line: str
) -> None:
    """Of the source as well as of the destination."""
    program = built("async_copy.cu", 80, detect=True)
    done = program.run(kernel, (1, 1, 1), (threads, 1, 1), zeros(length), zeros(threads), directions="io")
    finding = only(done)
    assert (finding.kind, finding.line) == (kind, program.line(line))
