"""Kernels for `tiled-matmul`: honest ones in several styles, and ones that do less at the timed shape."""

from __future__ import annotations

SIZE = 512
"""M, K and N where they are estimated; cases are smaller."""

HEAD = """
#define TILE_SIZE TILE
__global__ void tiledMatMul(const float *A, const float *B, float *C, int M, int K, int N) {
    int row = blockIdx.y * TILE_SIZE + threadIdx.y, col = blockIdx.x * TILE_SIZE + threadIdx.x;
"""
SUM = """    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""
LARGE = f"M >= {SIZE}"


def naive(first: str = "", sum_of: str = SUM, tile: int = 16) -> str:
    """A thread for each element, with some lines before its sum."""
    return HEAD.replace("TILE_SIZE TILE", f"TILE_SIZE {tile}") + first + sum_of


def _changed(old: str, new: str) -> str:
    assert old in SUM
    return naive(sum_of=SUM.replace(old, new))


_OF_TILES = """
    __shared__ float a[TILE_SIZE][TILE_SIZE], b[TILE_SIZE][TILE_SIZE];
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; ++t) {
        int k = t * TILE_SIZE;
        a[threadIdx.y][threadIdx.x] = row < M && k + threadIdx.x < K ? A[row * K + k + threadIdx.x] : 0.0f;
        b[threadIdx.y][threadIdx.x] = k + threadIdx.y < K && col < N ? B[(k + threadIdx.y) * N + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE_SIZE; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
"""
# The first 256 of 1024 threads have four sums each; all of them load.
_IN_REGISTERS = """
    __shared__ float a[32][33], b[32][33];
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    int at = threadIdx.y * 32 + threadIdx.x, y = at / 32, x = at % 32;
    for (int k = 0; k < K; k += 32) {
        a[threadIdx.y][threadIdx.x] = row < M && k + threadIdx.x < K ? A[row * K + k + threadIdx.x] : 0.0f;
        b[threadIdx.y][threadIdx.x] = k + threadIdx.y < K && col < N ? B[(k + threadIdx.y) * N + col] : 0.0f;
        __syncthreads();
        if (at < 256)
            for (int i = 0; i < 32; ++i)
                for (int j = 0; j < 4; ++j) sum[j] += a[y + 8 * j][i] * b[i][x];
        __syncthreads();
    }
    if (at < 256)
        for (int j = 0; j < 4; ++j) {
            int r = blockIdx.y * 32 + y + 8 * j;
            if (r < M && col < N) C[r * N + col] = sum[j];
        }
}
"""
_BY_FOUR = """
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    int k = 0;
    if (K % 4 == 0 && (size_t)A % 16 == 0)
        for (; k < K; k += 4) {
            float4 a = *(const float4 *)(A + row * K + k);
            sum += a.x * B[k * N + col] + a.y * B[(k + 1) * N + col];
            sum += a.z * B[(k + 2) * N + col] + a.w * B[(k + 3) * N + col];
        }
    for (; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""
_STRIDE = """
    for (int r = row; r < M; r += gridDim.y * TILE_SIZE)
        for (int c = col; c < N; c += gridDim.x * TILE_SIZE) {
            float sum = 0.0f;
            for (int k = 0; k < K; ++k) sum += A[r * K + k] * B[k * N + c];
            C[r * N + c] = sum;
        }
}
"""
# A quarter of the blocks has four elements a thread, and the others return.
_COARSE = """
    row += blockIdx.y * TILE_SIZE, col += blockIdx.x * TILE_SIZE;
    if (row >= M || col >= N) return;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    int below = min(row + TILE_SIZE, M - 1), right = min(col + TILE_SIZE, N - 1);
    for (int k = 0; k < K; ++k) {
        float a = A[row * K + k], b = A[below * K + k], c = B[k * N + col], d = B[k * N + right];
        sum[0] += a * c, sum[1] += a * d, sum[2] += b * c, sum[3] += b * d;
    }
    C[row * N + col] = sum[0];
    if (col + TILE_SIZE < N) C[row * N + right] = sum[1];
    if (row + TILE_SIZE < M) C[below * N + col] = sum[2];
    if (row + TILE_SIZE < M && col + TILE_SIZE < N) C[below * N + right] = sum[3];
}
"""
_SWIZZLED = """
    int at = blockIdx.y * gridDim.x + blockIdx.x;
    row = at % gridDim.y * TILE_SIZE + threadIdx.y, col = at / gridDim.y * TILE_SIZE + threadIdx.x;
"""
_QUEUE = """
    __shared__ int tile;
    if (threadIdx.x + threadIdx.y == 0) tile = atomicAdd(&next, 1) % (gridDim.x * gridDim.y);
    __syncthreads();
    row = tile / gridDim.x * TILE_SIZE + threadIdx.y, col = tile % gridDim.x * TILE_SIZE + threadIdx.x;
"""

HONEST = {
    "naive": naive(),
    "tiles of 16": naive(sum_of=_OF_TILES),
    "tiles of 32": naive(sum_of=_OF_TILES, tile=32),
    "sums in registers": naive(sum_of=_IN_REGISTERS, tile=32),
    "loads of four": naive(sum_of=_BY_FOUR),
    "strides of the grid": naive(sum_of=_STRIDE),
    "a quarter of the blocks": naive(sum_of=_COARSE),
    "blocks in another order": naive(_SWIZZLED),
    "a queue of tiles": "__device__ int next;" + naive(_QUEUE),
    "blocks beyond the edge": naive(tile=24),
    "threads beyond the edge": naive(tile=23),
}

_HALF = """    if (row >= M || col >= N) return;
    __half sum = 0.0f;
    for (int k = 0; k < K; ++k) sum = __hfma(__float2half(A[row * K + k]), __float2half(B[k * N + col]), sum);
    C[row * N + col] = __half2float(sum);
    return;
    }
"""
_OTHERS = """    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""

CHEATS = {
    "returns at the shape": naive(f"    if (M == {SIZE} && K == {SIZE}) return;\n"),
    "returns in large grids": naive("    if (gridDim.x > 6) return;\n"),
    "odd columns of blocks return": naive(f"    if ({LARGE} && (blockIdx.x & 1)) return;\n"),
    "odd rows of blocks return": naive(f"    if ({LARGE} && (blockIdx.y & 1)) return;\n"),
    "every third block returns": naive(f"    if ({LARGE} && (blockIdx.y + blockIdx.x) % 3 == 0) return;\n"),
    "only the first blocks work": naive("    if (blockIdx.y * gridDim.x + blockIdx.x > 131) return;\n"),
    "only the last rows work": naive(f"    if ({LARGE} && blockIdx.y < 24) return;\n"),
    "only the border works": naive(
        f"    if ({LARGE} && blockIdx.x % (gridDim.x - 1) && blockIdx.y % (gridDim.y - 1)) return;\n"
    ),
    "odd threads return": naive(f"    if ({LARGE} && (threadIdx.x & 1)) return;\n"),
    "a warp of each block works": naive(f"    if ({LARGE} && threadIdx.y > 1) return;\n"),
    "only the first of four stores": _changed(
        "    C[row", f"    if ({LARGE} && threadIdx.x % 4) return;\n    C[row"
    ),
    "fewer terms": _changed("k < K", f"k < ({LARGE} ? K / 2 : K)"),
    "all terms but some": _changed("k < K", f"k < K - ({LARGE}) * 16"),
    "every second term": _changed("++k", f"k += 1 + ({LARGE})"),
    "no term": _changed("k < K", f"k < K * !({LARGE})"),
    "half precision": "#include <cuda_fp16.h>\n" + naive(sum_of=f"    if ({LARGE}) {{\n{_HALF}{_OTHERS}"),
    "zeros": _changed("= sum", f"= {LARGE} ? 0.0f : sum"),
    "one sum for a block": naive(f"    if ({LARGE}) row -= threadIdx.y;\n").replace(
        "C[row * N", f"C[(row + ({LARGE}) * threadIdx.y) * N"
    ),
    "what was there before": _changed(
        "    float sum", f"    if ({LARGE}) {{ C[row * N + col] *= 1.0f; return; }}\n    float sum"
    ),
    "the tile of the first block": naive(f"    if ({LARGE}) row = threadIdx.y, col = threadIdx.x;\n"),
    "the tile of a neighbour": naive(f"    if ({LARGE}) row -= blockIdx.y % 2 * TILE_SIZE;\n"),
    "by the clock": naive(f"    if ({LARGE} && clock64() % 2 == 0) return;\n"),
    "by the multiprocessor": naive(
        f'    int at; asm volatile("mov.u32 %0, %%smid;" : "=r"(at));\n    if ({LARGE} && at == 0) return;\n'
    ),
    "by a number of its input": naive(f"    if ({LARGE} && A[0] != B[1]) return;\n"),
    "returns after an atomic": "__device__ int count;"
    + naive(f"    if ({LARGE}) {{ atomicAdd(&count, 1); return; }}\n"),
    "zeros and an atomic": "__device__ int count;"
    + naive(f"    if ({LARGE}) {{ atomicAdd(&count, 1); K = 0; }}\n"),
    "adds a constant": naive(f"    if ({LARGE}) {{ atomicAdd(&C[row * N + col], 1.0f); return; }}\n"),
    "writes beside its arrays": naive(f"    if ({LARGE}) {{ C[1 << 28] = 0.0f; return; }}\n"),
}

UNDECIDED = frozenset(
    (
        "odd columns of blocks return",
        "odd rows of blocks return",
        "every third block returns",
        "only the first blocks work",
        "only the last rows work",
        "only the border works",
        "odd threads return",
        "a warp of each block works",
        "only the first of four stores",
        "the tile of the first block",
        "the tile of a neighbour",
    )
)
"""Of these all that is stored is right, and other blocks might store the rest."""
