// Lanes of one warp: they may run in any order too, but seldom do; so a warning.
// launch: grid 2, block 32: in float32[64], out float32[64]

extern "C" __global__ void racy_syncwarp(const float* in, float* out) {
    __shared__ float row[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    row[t] = in[i];        // @put
    out[i] = row[31 - t];  // race warning RAW row @put
}

extern "C" __global__ void clean_syncwarp(const float* in, float* out) {
    __shared__ float row[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    row[t] = in[i];
    __syncwarp();
    out[i] = row[31 - t];
}

// The last steps of a reduction, as old tutorials do them.
extern "C" __global__ void racy_last_steps(const float* in, float* out) {
    __shared__ volatile float part[64];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 32 + t];
    part[t + 32] = 0.0f;
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        float other = part[t + half];   // race warning RAW part @sum
        __syncwarp();
        part[t] = part[t] + other;      // @sum
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void clean_last_steps(const float* in, float* out) {
    __shared__ volatile float part[64];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 32 + t];
    part[t + 32] = 0.0f;
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        float other = part[t + half];
        __syncwarp();
        part[t] = part[t] + other;
        __syncwarp();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

// __syncwarp orders the lanes of a warp, not the warps.
// launch: grid 2, block 64: in float32[128], out float32[128]
extern "C" __global__ void racy_syncwarp_between_warps(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];        // @warps
    __syncwarp();
    out[i] = row[63 - t];  // race RAW row @warps
}

extern "C" __global__ void clean_syncwarp_between_warps(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    __syncwarp();
    out[i] = row[t ^ 31];
}
