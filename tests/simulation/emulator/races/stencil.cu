// Each element from its neighbours, with a halo in shared memory or straight from global memory.
// launch: grid 3, block 64: in float32[200], out float32[200], 200

extern "C" __global__ void racy_halo(const float* in, float* out, int n) {
    __shared__ float window[66];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    window[t + 1] = i < n ? in[i] : 0.0f;  // @middle
    if (t == 0) window[0] = i > 0 ? in[i - 1] : 0.0f;
    if (t == 63) window[65] = i + 1 < n ? in[i + 1] : 0.0f;
    float left = window[t];           // race RAW window @middle
    float right = window[t + 2];      // race RAW window @middle
    if (i < n) out[i] = left + right;
}

extern "C" __global__ void clean_halo(const float* in, float* out, int n) {
    __shared__ float window[66];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    window[t + 1] = i < n ? in[i] : 0.0f;
    if (t == 0) window[0] = i > 0 ? in[i - 1] : 0.0f;
    if (t == 63) window[65] = i + 1 < n ? in[i + 1] : 0.0f;
    __syncthreads();
    float left = window[t];
    float right = window[t + 2];
    if (i < n) out[i] = left + right;
}

// The halo is fetched by the wrong thread, after the barrier.
extern "C" __global__ void racy_halo_after_barrier(const float* in, float* out, int n) {
    __shared__ float window[66];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    window[t + 1] = i < n ? in[i] : 0.0f;
    if (t == 0) window[0] = 0.0f;
    __syncthreads();
    if (t == 0) window[65] = i + 64 < n ? in[i + 64] : 0.0f;  // @halo
    float left = window[t];
    float right = window[t + 2];                              // race RAW window @halo
    if (i < n) out[i] = left + right;
}

extern "C" __global__ void clean_halo_after_barrier(const float* in, float* out, int n) {
    __shared__ float window[66];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    window[t + 1] = i < n ? in[i] : 0.0f;
    if (t == 0) window[0] = 0.0f;
    __syncthreads();
    if (t == 63) window[65] = i + 1 < n ? in[i + 1] : 0.0f;
    float left = window[t];
    float right = window[t + 2];
    if (i < n) out[i] = left + right;
}

// In place in global memory: barriers hold inside a block, so only the elements at its edges race.
// launch: grid 3, block 64: inout float32[192], out float32[192], 192
extern "C" __global__ void racy_in_place(float* data, float* out, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float right = i + 1 < n ? data[i + 1] : 0.0f;  // @right
    __syncthreads();
    data[i] = right;                               // race WAR data @right
}

extern "C" __global__ void clean_in_place(float* data, float* out, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float right = i + 1 < n ? data[i + 1] : 0.0f;
    __syncthreads();
    out[i] = right;
}

// In place inside one block's own stretch: the last thread stays at home.
extern "C" __global__ void racy_edge_of_block(float* data, float* out, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float right = threadIdx.x < 64 && i + 1 < n ? data[i + 1] : 0.0f;  // @edge
    __syncthreads();
    data[i] = right;                                                   // race WAR data @edge
}

extern "C" __global__ void clean_edge_of_block(float* data, float* out, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float right = threadIdx.x < 63 && i + 1 < n ? data[i + 1] : 0.0f;
    __syncthreads();
    data[i] = right;
}

// Two sweeps in one launch: no barrier reaches the other blocks.
extern "C" __global__ void racy_two_sweeps(float* data, float* out, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = 2.0f * data[i];               // @first
    __syncthreads();
    data[i] = out[i < n - 1 ? i + 1 : i];  // race RAW out @first
}

extern "C" __global__ void clean_two_sweeps(float* data, float* out, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = 2.0f * data[i];
    __syncthreads();
    data[i] = out[i % 64 < 63 ? i + 1 : i];
}

// Blocks that overlap by one element of output.
extern "C" __global__ void racy_blocks_overlap(float* data, float* out, int n) {
    int i = blockIdx.x * 63 + threadIdx.x;
    out[i] = data[i] + blockIdx.x;  // race WAW out here
}

extern "C" __global__ void clean_blocks_overlap(float* data, float* out, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = data[i] + blockIdx.x;
}
