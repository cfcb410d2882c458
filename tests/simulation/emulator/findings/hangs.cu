// Kernels that do not come to their end, and others that wait for a while and do.
extern "C" __global__ void never_set(volatile int* A) {
    while (A[0] == 0) { }
    A[1] = threadIdx.x;
}
extern "C" __global__ void set_too_late(volatile int* A, int n) {
    if (threadIdx.x < n) {
        while (A[3] == 0) { }
    }
    __syncthreads();
    if (threadIdx.x == n) A[3] = 1;
}
extern "C" __global__ void shared_flag(int* A) {
    __shared__ volatile int ready, other;
    ready = 0;
    other = 1;
    __syncthreads();
    while (ready == 0) { }
    A[threadIdx.x] = other;
}
extern "C" __global__ void lock_never_given_back(int* A) {
    while (atomicCAS(&A[2], 0, 1) != 0) { }
    A[4] += 1;
}
extern "C" __global__ void counts_the_wrong_way(int* A, int n) {
    for (int k = n; k != n - 1; k += 2) {
        A[threadIdx.x] = k;
    }
}
extern "C" __global__ void inner_loop(int* A, int n) {
    for (int i = 0; i < n; ++i) {
        int k = 0;
        while (k < n) {
            A[threadIdx.x] += k;
        }
    }
}
extern "C" __global__ void two_kinds_of_waiting(volatile int* A, int n) {
    if (threadIdx.x < 3) {
        while (A[0] == 0) { }
    } else if (threadIdx.x < 20) {
        while (A[1] == 0) { }
    } else {
        __syncthreads();
    }
    A[2] = n;
}
__device__ __noinline__ int flag_of(volatile int* flags, int n) { return flags[n]; }
extern "C" __global__ void asks_a_function(volatile int* A, int n) {
    while (flag_of(A, n) == 0) { }
    A[0] = 1;
}
extern "C" __global__ void waits_for_a_later_block(volatile int* A) {
    if (threadIdx.x == 0) {
        if (blockIdx.x + 1 < gridDim.x) {
            while (A[blockIdx.x + 1] == 0) { }
        }
        A[blockIdx.x] = 1;
    }
}
extern "C" __global__ void one_does_the_work_of_all(int* A, int n) {
    if (threadIdx.x == n)
        for (int i = 0; i < 1000 * n; ++i)
            A[i % 32] += i;
}

// These wait, and come to their end.
extern "C" __global__ void clean_set_by_a_later_line(volatile int* A) {
    if (threadIdx.x == 0) {
        while (A[0] == 0) { }
        A[1] = 7;
    } else if (threadIdx.x == 31) {
        A[0] = 1;
    }
}
extern "C" __global__ void clean_lock_of_a_warp(int* A) {
    if (threadIdx.x == 0) {
        while (atomicCAS(&A[0], 0, 1) != 0) { }
        *(volatile int*)&A[1] += 1;
        __threadfence();
        atomicExch(&A[0], 0);
    }
    __syncwarp();
}
extern "C" __global__ void clean_lock_of_every_thread(int* A) {
    while (atomicCAS(&A[0], 0, 1) != 0) { }
    __threadfence();
    *(volatile int*)&A[1] += 1;
    __threadfence();
    atomicExch(&A[0], 0);
}
extern "C" __global__ void clean_wait_for_an_earlier_block(volatile int* A) {
    if (threadIdx.x == 0) {
        if (blockIdx.x) {
            while (A[blockIdx.x - 1] == 0) { }
        }
        A[blockIdx.x] = 1;
    }
}
