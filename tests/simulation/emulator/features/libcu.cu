// libcu++: atomics with memory orders and scopes, and the parts of the standard library it brings.
#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/atomic>
#include <cuda/std/complex>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <cuda/std/utility>

extern "C" __global__ void references(int *a, unsigned long long *b, float *c, unsigned *out) {
    int i = threadIdx.x;
    cuda::atomic_ref<int, cuda::thread_scope_device> sum(a[0]);
    sum.fetch_add(i, cuda::memory_order_relaxed);
    sum.fetch_max(3, cuda::memory_order_acq_rel);
    cuda::atomic_ref<int, cuda::thread_scope_block> bits(a[1]);
    bits.fetch_or(1 << (i & 7), cuda::memory_order_release);
    bits.fetch_xor(0);
    cuda::atomic_ref<unsigned long long> counter(b[0]);
    counter++;
    counter.fetch_min(100000ull);
    unsigned long long seen = counter.load();
    while (!counter.compare_exchange_weak(seen, seen + 2)) {
    }
    cuda::atomic_ref<float> total(c[0]);
    total.fetch_add(1.5f);
    out[i] = sum.load(cuda::memory_order_acquire) >= 0;
    cuda::atomic_ref<int, cuda::thread_scope_system> last(a[2]);
    last.exchange(i);
    last.store(7, cuda::memory_order_release);
    last.fetch_sub(0);
    last.fetch_and(0xff);
}

__device__ cuda::atomic<int, cuda::thread_scope_device> total;
__device__ cuda::std::atomic<unsigned> standard;
extern "C" __global__ void variables(int *out) {
    __shared__ cuda::atomic<int, cuda::thread_scope_block> tile;
    if (threadIdx.x == 0) tile.store(5);
    __syncthreads();
    tile.fetch_add(2);
    total += 3;
    standard.fetch_add(1u);
    __syncthreads();
    out[threadIdx.x] = tile.load() + total.load() * 1000 + standard.load() * 100000;
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
}

extern "C" __global__ void library(float *out) {
    int i = threadIdx.x;
    cuda::std::array<float, 4> numbers{1, 2, 3, 4};
    cuda::std::complex<float> z(i, 1);
    z = z * z;
    auto pair = cuda::std::make_tuple(i, 2.5f);
    out[i] = numbers[i & 3] + z.real() + z.imag() + cuda::std::get<1>(pair) + cuda::std::max(i, 3) +
             (cuda::std::numeric_limits<int>::max() > i) + cuda::std::plus<float>{}(1, 2);
}

extern "C" __global__ void bytes(unsigned char *a) {
    cuda::atomic_ref<unsigned char> first(a[0]);
    first.fetch_add(1);
}
