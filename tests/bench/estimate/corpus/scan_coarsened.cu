// Four elements to a thread in registers, then a scan of the threads' sums.

extern "C" __global__ void scan_coarsened(const float* in, float* out, int n) {
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    float4 four = ((const float4*)in)[i];
    four.y += four.x;
    four.z += four.y;
    four.w += four.z;
    s[t] = four.w;
    for (int step = 1; step < 128; step *= 2) {
        __syncthreads();
        float before = t >= step ? s[t - step] : 0.0f;
        __syncthreads();
        s[t] += before;
    }
    float before = s[t] - four.w;
    ((float4*)out)[i] = make_float4(four.x + before, four.y + before, four.z + before, four.w + before);
}
