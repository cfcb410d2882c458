// Functions of small operations of which nothing shows whether kernels compute the result or the host.
// `//@ operation: name` begins each.
#include <vector>
#define LINE(n) ((n) + 63) / 64, 64
#define ROOM(d, n) float *d; cudaMalloc(&d, (n) * sizeof(float))
#define UP(d, h, n) cudaMemcpy(d, h, (n) * sizeof(float), cudaMemcpyHostToDevice)
#define BACK(h, d, n) cudaMemcpy(h, d, (n) * sizeof(float), cudaMemcpyDeviceToHost)
//@ scan: blocks by the device, offsets added by the host
__global__ void blocks(const float *x, float *y, int n) {
    int first = blockIdx.x * 32;
    float s = 0;
    for (int i = first; i < first + 32 && i < n; ++i) y[blockIdx.y * n + i] = s += x[blockIdx.y * n + i];
}
void scan(const float *input, float *output, int M, int N) {
    ROOM(x, M * N); ROOM(y, M * N);
    UP(x, input, M * N);
    blocks<<<dim3((N + 31) / 32, M), 1>>>(x, y, N);
    BACK(output, y, M * N);
    for (int r = 0; r < M; ++r) for (int i = 32; i < N; ++i) output[r * N + i] += output[r * N + i / 32 * 32 - 1];
    cudaFree(x); cudaFree(y);
}
//@ relu: the mask by the host
__global__ void masks(const float *x, const float *m, float *y, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) y[i] = x[i] * m[i]; }
void relu(const float *x, float *y, int N) {
    std::vector<float> m(N); for (int i = 0; i < N; ++i) m[i] = x[i] > 0;
    ROOM(a, N); ROOM(b, N); ROOM(c, N); UP(a, x, N); UP(b, m.data(), N); masks<<<LINE(N)>>>(a, b, c, N); BACK(y, c, N); cudaFree(a); cudaFree(b); cudaFree(c);
}
