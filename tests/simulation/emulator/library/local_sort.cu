// Each thread sorts eight numbers in an array of its own and writes the median and the extremes.
#define N 8
__global__ void kernel(const float* in, float* out, int threads) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= threads) return;
    float own[N];
    for (int i = 0; i < N; ++i) own[i] = in[t * N + i];
    for (int i = 1; i < N; ++i) {
        float value = own[i];
        int j = i;
        while (j > 0 && own[j - 1] > value) {
            own[j] = own[j - 1];
            --j;
        }
        own[j] = value;
    }
    out[3 * t] = own[0];
    out[3 * t + 1] = (own[N / 2 - 1] + own[N / 2]) / 2;
    out[3 * t + 2] = own[N - 1];
}
