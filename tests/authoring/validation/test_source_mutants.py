"""Mutants made on the source: what is changed, what is left alone, and how a mutant is called."""

from __future__ import annotations

import pytest

from grader.authoring.validation.mutants import source_mutants

KERNEL = b"""\
#define TILE 16
#define BINS 8

__device__ float twice(float v) { return v * 2.0f; }
__device__ int unused(int v) { return v + 1; }

__global__ void k(const float* a, float* out, int* bins, int n) {
    __shared__ float tile[TILE];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? a[i] : 0.0f;
    __syncthreads();
    float sum = 0.0f;
    for (int j = 0; j < TILE; ++j) {
        sum += twice(tile[j]);
    }
    atomicAdd(&bins[i % BINS], 1);
    if (i < n && i > 0) out[i * n + 1] = sum;
}

int main() { return 0; }
"""

MUTANTS = source_mutants(KERNEL, ["k"], ["TILE"])


def _added(kind: str) -> list[str]:
    """The lines that mutants of a kind put in."""
    diffs = [each.diff.split("\n")[3:] for each in MUTANTS if each.kind == kind]
    return [line[1:].strip() for diff in diffs for line in diff if line.startswith("+")]


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("guard-dropped", "if (true) out[i * n + 1] = sum;"),
        ("guard-dropped", "tile[threadIdx.x] = true ? a[i] : 0.0f;"),
        ("condition-part-dropped", "if (i < n) out[i * n + 1] = sum;"),
        ("condition-part-dropped", "if (i > 0) out[i * n + 1] = sum;"),
        ("comparison-moved", "if (i <= n && i > 0) out[i * n + 1] = sum;"),
        ("comparison-moved", "for (int j = 0; j <= TILE; ++j) {"),
        ("loop-bound-lower", "for (int j = 0; j < (TILE) - 1; ++j) {"),
        ("loop-bound-higher", "for (int j = 0; j < (TILE) + 1; ++j) {"),
        ("axes-swapped", "int i = blockIdx.y * blockDim.x + threadIdx.x;"),
        ("axes-swapped", "int i = blockIdx.x * blockDim.x + threadIdx.y;"),
        ("index-transposed", "if (i < n && i > 0) out[1 * n + i] = sum;"),
        ("operator-changed", "int i = blockIdx.x * blockDim.x - threadIdx.x;"),
        ("operator-changed", "__device__ float twice(float v) { return v + 2.0f; }"),
        ("operator-changed", "sum -= twice(tile[j]);"),
        ("constant-changed", "float sum = (0.0f + 1.0f);"),
        ("constant-changed", "for (int j = 1; j < TILE; ++j) {"),
        ("constant-changed", "#define BINS 9"),
        ("accumulation-lost", "sum = twice(tile[j]);"),
        ("statement-removed", ";"),
        ("barrier-removed", ";"),
        ("initial-value-missing", "float sum;"),
        ("zero-stored", "if (i < n && i > 0) out[i * n + 1] = 0;"),
        ("coarser-arithmetic", "sum = graderCoarse(sum + (twice(tile[j])));"),
        ("coarser-arithmetic", "if (i < n && i > 0) out[i * n + 1] = graderCoarse(sum);"),
        ("array-one-short", "__shared__ float tile[(TILE) - 1];"),
        ("function-exchanged", "atomicSub(&bins[i % BINS], 1);"),
    ],
)
def test_each_operator_makes_its_mutant(kind: str, line: str) -> None:
    """The diff shows the line as the mutant has it."""
    assert line in _added(kind)


def test_an_atomic_is_made_plain() -> None:
    """A load, an addition and a store that still give the old value."""
    (line,) = _added("atomic-made-plain")
    assert line.startswith("({ auto* graderAt = (&bins[i % BINS]); auto graderOld = *graderAt;")
    assert "*graderAt = graderOld + (1);" in line


def test_a_kernel_is_emptied() -> None:
    """Only the kernel's own body: what it calls has other mutants."""
    (only,) = [each for each in MUTANTS if each.kind == "body-empty"]
    assert b"int n) {}" in only.source
    assert b"return v * 2.0f" in only.source


def test_what_no_kernel_reaches_is_left_alone() -> None:
    """An unused function and `main` decide nothing."""
    assert all(
        b"return v + 1; }" in each.source and b"main() { return 0; }" in each.source for each in MUTANTS
    )


def test_a_constant_that_students_choose_is_left_alone() -> None:
    """Another tile size is no mistake."""
    assert all(b"#define TILE 16\n" in each.source for each in MUTANTS)


def test_no_two_mutants_are_alike() -> None:
    """Each text comes once, under an id of its own, and is not the original."""
    assert len({each.source for each in MUTANTS}) == len({each.id for each in MUTANTS}) == len(MUTANTS)
    assert KERNEL not in {each.source for each in MUTANTS}


def test_a_line_elsewhere_changes_no_id() -> None:
    """Ids follow the changed line, so an explanation outlives a new comment."""
    moved = source_mutants(b"// a comment\n\n" + KERNEL, ["k"], ["TILE"])
    assert [each.id for each in moved] == [each.id for each in MUTANTS]
    assert [each.line for each in moved] == [each.line + 2 for each in MUTANTS]


def test_a_guard_that_leaves_is_dropped_by_never_leaving() -> None:
    """`if (outside) return;` dropped means that no thread returns."""
    found = source_mutants(
        b"__global__ void k(int* a, int n) {\n  if (n < 3) { return; }\n  a[0] = n;\n}\n", ["k"]
    )
    (only,) = [each for each in found if each.kind == "guard-dropped"]
    assert b"if (false) { return; }" in only.source


def test_a_rounded_up_division_is_turned_down() -> None:
    """The summand that rounds it up goes."""
    found = source_mutants(b"__global__ void k(int* a, int n) {\n  a[0] = (n + 16 - 1) / 16;\n}\n", ["k"])
    assert b"a[0] = (n) / 16;" in next(each.source for each in found if each.kind == "division-rounded-down")


def test_subscripts_are_swapped() -> None:
    """`t[x][y]` for `t[y][x]`."""
    found = source_mutants(b"__global__ void k(int (*t)[4], int x, int y) {\n  t[y][x] = 1;\n}\n", ["k"])
    assert b"t[x][y] = 1;" in next(each.source for each in found if each.kind == "subscripts-swapped")


def test_bytes_that_are_no_text_do_no_harm() -> None:
    """A comment in Latin-1 stays as it is, and diffs are text."""
    found = source_mutants(b"// Gr\xfc\xdfe\r\n__global__ void k(int* a) {\r\n  a[0] = 1;\r\n}\r\n", ["k"])
    assert found
    assert all(each.source.count(b"Gr\xfc\xdfe\r\n") == 1 and "\r" not in each.diff for each in found)
