// Hillis and Steele's scan with two buffers that change places: one barrier a step.
__global__ void kernel(const float* in, float* out, int n) {
    extern __shared__ float buffers[];
    int t = threadIdx.x, from = 0, to = 1;
    buffers[t] = t > 0 && t < n ? in[t - 1] : 0.0f;
    __syncthreads();
    for (int by = 1; by < blockDim.x; by <<= 1) {
        float value = buffers[from * blockDim.x + t];
        if (t >= by) value += buffers[from * blockDim.x + t - by];
        buffers[to * blockDim.x + t] = value;
        from = 1 - from;
        to = 1 - to;
        __syncthreads();
    }
    if (t < n) out[t] = buffers[from * blockDim.x + t];
}
