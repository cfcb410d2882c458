// A bug for each of compute-sanitizer's tools, and a kernel without one. A tool that does not find its bug
// looks at nothing, and then nobody may be graded by its silence. Launched as one block of 64 threads.

extern "C" __global__ void grader_case_0(const float* in, float* out) {
    __shared__ float row[64];
    row[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = row[63 - threadIdx.x];
}

extern "C" __global__ void grader_case_1(const float* in, float* out) {
    __shared__ float row[64];
    row[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = row[63 - threadIdx.x];  // planted: racecheck
}

extern "C" __global__ void grader_case_2(const float* in, float* out) {
    out[threadIdx.x] += in[threadIdx.x];  // planted: initcheck
}

extern "C" __global__ void grader_case_3(const float* in, float* out) {
    if (threadIdx.x < 32) {
        out[threadIdx.x] = in[threadIdx.x];
        __syncthreads();  // planted: synccheck
    } else {
        out[threadIdx.x] = 0.0f;
        __syncthreads();  // planted: synccheck
    }
}

extern "C" __global__ void grader_case_4(const float* in, float* out) {
    out[threadIdx.x + 1] = in[threadIdx.x];  // planted: memcheck
}
