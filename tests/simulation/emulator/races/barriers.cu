// Barriers that not every thread comes to.
// launch: grid 2, block 64: in float32[128], out float32[128], 100

extern "C" __global__ void racy_return_before_barrier(const float* in, float* out, int n) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = i < n ? in[i] : 0.0f;
    if (i >= n) return;
    __syncthreads();  // info barrier-divergence
    out[i] = row[t];
}

extern "C" __global__ void clean_return_before_barrier(const float* in, float* out, int n) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    if (i >= n) return;
    out[i] = row[t];
}

extern "C" __global__ void racy_barrier_in_if(const float* in, float* out, int n) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = i < n ? in[i] : 0.0f;
    if (i < n) {
        __syncthreads();  // barrier-divergence
        out[i] = row[63 - t];
    }
}

extern "C" __global__ void clean_barrier_in_if(const float* in, float* out, int n) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    if (i < n) {
        out[i] = row[63 - t];
    }
}

// A condition that is the same for the whole block is no divergence.
extern "C" __global__ void racy_uniform_condition(const float* in, float* out, int n) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    if (t < n - 40) {
        __syncthreads();  // barrier-divergence
        out[i] = row[(t + 32) % 60];
    }
}

extern "C" __global__ void clean_uniform_condition(const float* in, float* out, int n) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    if (t < n - 30) {
        __syncthreads();
        out[i] = row[(t + 32) % 60];
    }
}

// Two lines, one barrier: every thread comes to it by one way or the other.
extern "C" __global__ void racy_barrier_in_both_branches(const float* in, float* out, int n) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t < 32) {
        row[t] = in[i];
        __syncthreads();  // barrier-divergence
    } else {
        row[t] = 0.0f;
    }
    out[i] = row[t];
}

extern "C" __global__ void clean_barrier_in_both_branches(const float* in, float* out, int n) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t < 32) {
        row[t] = in[i];
        __syncthreads();
    } else {
        row[t] = 0.0f;
        __syncthreads();
    }
    out[i] = row[t];
}

// A loop with as many turns for everybody, or with some that leave early.
extern "C" __global__ void racy_barrier_in_loop(const float* in, float* out, int n) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float sum = 0.0f;
    for (int k = t; k < n; k += 64) {
        row[t] = in[k];
        __syncthreads();  // barrier-divergence
        sum += row[t];
    }
    out[i] = sum;
}

extern "C" __global__ void clean_barrier_in_loop(const float* in, float* out, int n) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float sum = 0.0f;
    for (int k = 0; k < n; k += 64) {
        row[t] = in[k];
        __syncthreads();
        sum += row[t];
    }
    out[i] = sum;
}
