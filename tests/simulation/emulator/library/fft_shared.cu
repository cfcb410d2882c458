// A complex Fourier transform of 128 numbers per block: bit reversal, then butterflies with twiddle factors.
#define N 128
#define BITS 7
__global__ void kernel(const float2* in, float2* out) {
    __shared__ float2 data[N];
    unsigned t = threadIdx.x;
    for (unsigned i = t; i < N; i += blockDim.x) data[__brev(i) >> (32 - BITS)] = in[blockIdx.x * N + i];
    for (unsigned half = 1; half < N; half *= 2) {
        __syncthreads();
        unsigned j = t % half, low = (t / half) * 2 * half + j, high = low + half;
        float sine, cosine;
        sincospif(-(float)j / half, &sine, &cosine);
        float2 a = data[low], b = data[high];
        float2 turned = {b.x * cosine - b.y * sine, b.x * sine + b.y * cosine};
        data[low] = make_float2(a.x + turned.x, a.y + turned.y);
        data[high] = make_float2(a.x - turned.x, a.y - turned.y);
    }
    __syncthreads();
    for (unsigned i = t; i < N; i += blockDim.x) out[blockIdx.x * N + i] = data[i];
}
