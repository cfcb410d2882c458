// Barriers that some threads do not come to, and others that all come to in an unusual way.
extern "C" __global__ void returns_before(float* A, int n) {
    if (threadIdx.y * blockDim.x + threadIdx.x >= 5 * n) return;
    A[threadIdx.x] = 0.0f;
    __syncthreads();
}
extern "C" __global__ void one_thread_returns(float* A) {
    if (threadIdx.x == 3 && threadIdx.y == 1)
        return;
    __syncthreads();
    A[threadIdx.y * 8 + threadIdx.x] = 1.0f;
}
extern "C" __global__ void every_other_thread(float* A) {
    if (threadIdx.x % 2 == 0) {
        __syncthreads();
    }
    A[threadIdx.y * 8 + threadIdx.x] = 1.0f;
}
extern "C" __global__ void more_rounds_for_some(float* A) {
    for (int k = 0; k < 2 + (threadIdx.y == 0); ++k) {
        __syncthreads();
    }
    A[threadIdx.y * 8 + threadIdx.x] = 1.0f;
}
__device__ __noinline__ void meet() {
    __syncthreads();
}
extern "C" __global__ void in_a_function(float* A) {
    if (threadIdx.y > 0)
        meet();
    A[threadIdx.y * 8 + threadIdx.x] = 1.0f;
}
extern "C" __global__ void two_ways_out(float* A, int n) {
    if (threadIdx.x == n) return;
    A[threadIdx.y * 8 + threadIdx.x] = 1.0f;
    if (threadIdx.y == n % 4) return;
    __syncthreads();
}
extern "C" __global__ void too_few_for_a_count(float* A) {
    if (threadIdx.y < 3) asm volatile("bar.sync 1, 32;");
    A[threadIdx.y * 8 + threadIdx.x] = 1.0f;
}
extern "C" __global__ void wait_for_each_other(float* A) {
    if (threadIdx.y < 3) asm volatile("bar.sync 1;");
    else asm volatile("bar.sync 2;");
    A[threadIdx.y * 8 + threadIdx.x] = 1.0f;
}
extern "C" __global__ void warp_mask_too_large(float* A) {
    if (threadIdx.y < 2) __syncwarp(0xffffffff);
    else __syncthreads();
    A[threadIdx.y * 8 + threadIdx.x] = 1.0f;
}
extern "C" __global__ void shuffle_past_a_branch(int* A) {
    int mine = threadIdx.y * 8 + threadIdx.x, got = 0;
    if (mine < 16) got = __shfl_down_sync(0xffffffff, mine, 1);
    else asm volatile("bar.sync 1, 64;");
    A[mine] = got;
}
extern "C" __global__ void lanes_outside_their_mask(int* A) {
    int mine = threadIdx.y * 8 + threadIdx.x;
    A[mine] = __shfl_down_sync(0x0000ffff, mine, 1);
}
extern "C" __global__ void one_lane_outside_its_mask(int* A) {
    int mine = threadIdx.y * 8 + threadIdx.x;
    __syncwarp(0xfffffffe);
    A[mine] = mine;
}
extern "C" __global__ void ballot_of_others(unsigned* A, int n) {
    int mine = threadIdx.y * 8 + threadIdx.x;
    unsigned even = __ballot_sync(0xffffffff, mine % 2 == 0);
    A[mine] = __ballot_sync(even, mine < n);
}

// Nothing is wrong with these.
extern "C" __global__ void clean_on_two_lines(float* A) {
    if (threadIdx.y % 2 == 0) {
        A[threadIdx.y * 8 + threadIdx.x] = 1.0f;
        __syncthreads();
    } else {
        A[threadIdx.y * 8 + threadIdx.x] = 2.0f;
        __syncthreads();
    }
}
extern "C" __global__ void clean_return_after(float* A, int n) {
    __syncthreads();
    if (threadIdx.x >= n) return;
    A[threadIdx.y * 8 + threadIdx.x] = 1.0f;
}
extern "C" __global__ void clean_warps_of_their_own(float* A) {
    if (threadIdx.y < 2) __syncwarp(0x0000ffff);
    else __syncwarp(0xffff0000);
    A[threadIdx.y * 8 + threadIdx.x] = 1.0f;
}
extern "C" __global__ void clean_same_rounds(float* A, int n) {
    for (int k = 0; k < n; ++k) {
        if (threadIdx.x > k) A[threadIdx.y * 8 + threadIdx.x] = k;
        __syncthreads();
    }
}
extern "C" __global__ void clean_lanes_that_left(int* A, int n) {
    int mine = threadIdx.y * 8 + threadIdx.x;
    if (mine >= 4 * n) return;
    int got = __shfl_up_sync(0xffffffff, mine, 1);
    __syncwarp();
    A[mine] = got;
}
extern "C" __global__ void clean_masks_of_halves(int* A) {
    int mine = threadIdx.y * 8 + threadIdx.x;
    A[mine] = __shfl_xor_sync(mine < 16 ? 0x0000ffff : 0xffff0000, mine, 1);
}
extern "C" __global__ void clean_lanes_that_are_active(unsigned* A, int n) {
    int mine = threadIdx.y * 8 + threadIdx.x;
    if (mine % n == 0) A[mine] = __ballot_sync(__activemask(), mine < 2 * n);
}
