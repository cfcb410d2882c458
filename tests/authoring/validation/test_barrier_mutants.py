"""Barriers taken out of the PTX: which, from where, and under which names."""

from __future__ import annotations

from dataclasses import replace

from grader.authoring.validation.mutants import BARRIER_KIND, barrier_mutants, without_barrier
from grader.model import Build

SOURCE = b"__global__ void k() {\n    __syncthreads();\n    help();\n}\n// other\n    __syncthreads();\n"

PTX = """\
.version 8.0
.target sm_80
.address_size 64
.file 1 "submission.cu"
.func help()
{
	.loc 1 3 0
	bar.warp.sync 	-1;
	ret;
}
.visible .entry k()
{
	.loc 1 2 5
	bar.sync 	0;
	.loc 1 2 5
	bar.sync 	0;
	{
	call help, ();
	}
	ret;
}
.visible .entry other()
{
	.loc 1 6 5
	bar.sync 	1;
	ret;
}
"""

BUILD = Build(ok=True, ptx=PTX, hazard_ptx=PTX, entry="k")


def test_each_barrier_that_the_kernel_reaches_makes_a_mutant() -> None:
    """Also that of a function it calls; not that of another kernel."""
    found = barrier_mutants(BUILD, SOURCE)
    assert [(each.kind, each.line, each.barrier) for each in found] == [
        (BARRIER_KIND, 3, 0),
        (BARRIER_KIND, 2, 1),
        (BARRIER_KIND, 2, 2),
    ]
    assert len({each.id for each in found}) == 3
    assert all(each.source == SOURCE for each in found)
    assert found[1].what == "bar.sync of `__syncthreads();` taken out of the PTX"


def test_one_barrier_is_taken_out_and_nothing_else() -> None:
    """In both builds, where both have as many."""
    changed = without_barrier(BUILD, 1)
    assert changed.ptx == changed.hazard_ptx == PTX.replace("bar.sync \t0;", "", 1)


def test_a_default_build_with_other_barriers_is_left_alone() -> None:
    """An unrolled loop has more of them: it is unknown which one is meant."""
    more = PTX.replace("bar.sync \t0;", "bar.sync \t0;\n\tbar.sync \t0;", 1)
    changed = without_barrier(replace(BUILD, ptx=more), 1)
    assert changed.ptx == more
    assert changed.hazard_ptx != PTX


def test_barriers_of_all_kernels_that_cases_launch_count() -> None:
    """A file may hold several kernels; each of their builds loses the barrier."""
    both = replace(BUILD, others=(("other", replace(BUILD, entry="other")),))
    found = barrier_mutants(both, SOURCE)
    assert [each.line for each in found] == [3, 2, 2, 6]
    changed = without_barrier(both, 3)
    assert "bar.sync \t1;" not in changed.hazard_ptx + dict(changed.others)["other"].hazard_ptx
