// Atomics of the C++ library: references to plain memory, scopes, orders, and a loop of compare and exchange.
#include <cuda/atomic>

__device__ cuda::atomic<unsigned, cuda::thread_scope_device> tickets{0};

__global__ void kernel(const float* in, float* greatest, unsigned* counts, unsigned* ticket_sum, int n) {
    __shared__ unsigned of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_block> count(of_block);
        if (in[i] > 0) count.fetch_add(1, cuda::std::memory_order_relaxed);
        cuda::atomic_ref<float, cuda::thread_scope_device> best(*greatest);
        float seen = best.load(cuda::std::memory_order_relaxed);
        while (seen < in[i] && !best.compare_exchange_weak(seen, in[i], cuda::std::memory_order_relaxed)) {
        }
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> sum(*ticket_sum);
        sum.fetch_add(tickets.fetch_add(1, cuda::std::memory_order_relaxed), cuda::std::memory_order_relaxed);
    }
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = of_block;
}
