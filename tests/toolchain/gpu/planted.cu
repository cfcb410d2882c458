// More mistakes for the tools than the self-test needs: what a record of each looks like on the device at hand.
// Launched as one block of 64 threads.

extern "C" __global__ void grader_case_0(const float* in, float* out) {
    if (threadIdx.x < 32) __syncthreads();  // @synccheck: one warp here, the other there
    else
        __syncthreads();  // @synccheck
    out[threadIdx.x] = in[threadIdx.x];
}

__device__ void store(float* row, int i, float value) {
    row[i] = value;  // @racecheck: a function's copy carries its kernel's name
}

extern "C" __global__ void grader_case_1(const float* in, float* out) {
    __shared__ float row[64];
    store(row, threadIdx.x, in[threadIdx.x]);
    out[threadIdx.x] = row[63 - threadIdx.x];  // @racecheck
}

extern "C" __global__ void grader_case_2(const float* in, float* out) {
    if (threadIdx.x < 32) out[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x >= 32) out[threadIdx.x - 32] += out[threadIdx.x];  // @initcheck: nobody wrote the second half
}

extern "C" __global__ void grader_case_3(const float* in, float* out) {
    char* place = (char*)(out + threadIdx.x) + 2;
    *(float*)place = in[threadIdx.x];  // @memcheck: no multiple of 4
}
