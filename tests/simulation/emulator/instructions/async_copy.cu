// Copies that nobody waits for until they are needed, as courses write them.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

#define TILE 16

// The double-buffered product: tile t + 1 is on its way while tile t is used. WAIT and MEET leave one out.
template <bool WAIT, bool MEET>
__device__ void multiply(const float *a, const float *b, float *c, int n, int k)
{
    __shared__ float tile_a[2][TILE][TILE], tile_b[2][TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    __pipeline_memcpy_async(&tile_a[0][y][x], &a[row * k + x], 4);
    __pipeline_memcpy_async(&tile_b[0][y][x], &b[y * n + column], 4);
    __pipeline_commit();
    for (int t = 0; t < k / TILE; t++) {
        int now = t % 2, next = 1 - now, start = (t + 1) * TILE;
        if (start < k) {
            __pipeline_memcpy_async(&tile_a[next][y][x], &a[row * k + start + x], 4);
            __pipeline_memcpy_async(&tile_b[next][y][x], &b[(start + y) * n + column], 4);
        }
        __pipeline_commit();
        if (WAIT)
            __pipeline_wait_prior(1);
        if (MEET)
            __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += tile_a[now][y][i] * tile_b[now][i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void pipelined(const float *a, const float *b, float *c, int n, int k)
{
    multiply<true, true>(a, b, c, n, k);
}

extern "C" __global__ void without_wait(const float *a, const float *b, float *c, int n, int k)
{
    multiply<false, true>(a, b, c, n, k);
}

extern "C" __global__ void without_barrier(const float *a, const float *b, float *c, int n, int k)
{
    multiply<true, false>(a, b, c, n, k);
}

// Copies of 16, 8 and 4 bytes per thread, in a group each, reversed through shared memory.
extern "C" __global__ void sizes(const float *a, float *c)
{
    __shared__ __align__(16) float s[256 + 128 + 64];
    int i = threadIdx.x;
    __pipeline_memcpy_async(&s[4 * i], &a[4 * i], 16);
    __pipeline_commit();
    __pipeline_memcpy_async(&s[256 + 2 * i], &a[256 + 2 * i], 8);
    __pipeline_commit();
    __pipeline_memcpy_async(&s[384 + i], &a[384 + i], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int j = i; j < 448; j += 64)
        c[j] = s[447 - j];
}

// The last `zeros` of 16 bytes are filled with zeros.
extern "C" __global__ void padded(const float *a, float *c)
{
    __shared__ __align__(16) float s[128];
    int i = threadIdx.x;
    __pipeline_memcpy_async(&s[4 * i], &a[4 * i], 16, 8);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (int j = 0; j < 4; j++)
        c[4 * i + j] = s[4 * i + j];
}

extern "C" __global__ void cooperative(const float *a, float *c, int count)
{
    __shared__ alignas(16) float s[256];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, a, sizeof(float) * count);
    cg::wait(block);
    if (threadIdx.x < count)
        c[threadIdx.x] = s[count - 1 - threadIdx.x];
}

extern "C" __global__ void thread_pipeline(const float *a, float *c)
{
    __shared__ alignas(16) float s[64];
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(&s[threadIdx.x], &a[threadIdx.x], sizeof(float), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    c[threadIdx.x] = s[threadIdx.x];
    pipe.consumer_release();
}

// What goes wrong.
extern "C" __global__ void past_the_end(const float *a, float *c)
{
    __shared__ float s[64];
    __pipeline_memcpy_async(&s[threadIdx.x], &a[threadIdx.x], 4); // A has 60 elements
    __pipeline_commit();
    __pipeline_wait_prior(0);
    c[threadIdx.x] = s[threadIdx.x];
}

extern "C" __global__ void past_the_tile(const float *a, float *c)
{
    __shared__ float s[60], other[60];
    if (threadIdx.x < 60)
        other[threadIdx.x] = 1.0f;
    __syncthreads();
    __pipeline_memcpy_async(&s[threadIdx.x], &a[threadIdx.x], 4); // s has 60 elements
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    c[threadIdx.x] = s[threadIdx.x % 60] + other[threadIdx.x % 60];
}

extern "C" __global__ void crooked(const float *a, float *c)
{
    __shared__ __align__(16) float s[132];
    int i = threadIdx.x;
    __pipeline_memcpy_async(&s[4 * i], &a[4 * i + 1], 16); // not a multiple of 16 bytes
    __pipeline_commit();
    __pipeline_wait_prior(0);
    c[i] = s[4 * i];
}
