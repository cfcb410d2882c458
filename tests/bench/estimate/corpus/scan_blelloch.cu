// A scan up and down a tree in shared memory, with its bank conflicts; PADDED has a hole after every 32 elements.

template <bool PADDED>
__device__ int place(int i) { return PADDED ? i + i / 32 : i; }

template <bool PADDED>
__device__ __forceinline__ void scan(const float* in, float* out, int n) {
    __shared__ float s[576];
    int t = threadIdx.x, start = blockIdx.x * 512;
    float first = in[start + t], second = in[start + t + 256];
    s[place<PADDED>(t)] = first;
    s[place<PADDED>(t + 256)] = second;
    int step = 1;
    for (int threads = 256; threads > 0; threads /= 2) {
        __syncthreads();
        if (t < threads) s[place<PADDED>(step * (2 * t + 2) - 1)] += s[place<PADDED>(step * (2 * t + 1) - 1)];
        step *= 2;
    }
    if (t == 0) s[place<PADDED>(511)] = 0;
    for (int threads = 1; threads < 512; threads *= 2) {
        step /= 2;
        __syncthreads();
        if (t < threads) {
            int left = place<PADDED>(step * (2 * t + 1) - 1), right = place<PADDED>(step * (2 * t + 2) - 1);
            float sum = s[left];
            s[left] = s[right];
            s[right] += sum;
        }
    }
    __syncthreads();
    out[start + t] = s[place<PADDED>(t)] + first;
    out[start + t + 256] = s[place<PADDED>(t + 256)] + second;
}

extern "C" __global__ void scan_blelloch(const float* in, float* out, int n) { scan<false>(in, out, n); }
extern "C" __global__ void scan_blelloch_padded(const float* in, float* out, int n) { scan<true>(in, out, n); }
