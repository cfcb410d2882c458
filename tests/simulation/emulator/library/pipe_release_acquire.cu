// One warp hands numbers to the other through a slot in shared memory, with the C++ library's orders.
#include <cuda/atomic>

__global__ void kernel(const int* in, int* out, int n) {
    __shared__ int slot;
    __shared__ cuda::atomic<int, cuda::thread_scope_block> turn;
    if (threadIdx.x == 0) turn.store(0, cuda::std::memory_order_relaxed);
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < n; ++i) {
            while (turn.load(cuda::std::memory_order_acquire) != 2 * i) {
            }
            slot = in[blockIdx.x * n + i] * 2;
            turn.store(2 * i + 1, cuda::std::memory_order_release);
        }
    } else if (threadIdx.x == 32) {
        for (int i = 0; i < n; ++i) {
            while (turn.load(cuda::std::memory_order_acquire) != 2 * i + 1) {
            }
            out[blockIdx.x * n + i] = slot + 1;
            turn.store(2 * i + 2, cuda::std::memory_order_release);
        }
    }
}
