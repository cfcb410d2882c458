// Kernels that the native core executes to their end. Each takes floats or ints in A, gives B, and knows n.

extern "C" __global__ void adds(const float* A, float* B, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) B[i] = A[i] + 2.5f * A[n - 1 - i];
}

extern "C" __global__ void tiles(const float* A, float* B, int n) {
    __shared__ float tile[8][9];
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0.0f;
    for (int t = 0; t < n / 8; ++t) {
        tile[y][x] = A[y * n + t * 8 + x];
        __syncthreads();
        for (int k = 0; k < 8; ++k) sum += tile[y][k] * tile[k][x];
        __syncthreads();
    }
    B[(blockIdx.x * 8 + y) * 8 + x] = sum;
}

extern "C" __global__ void parts(const int* A, int* B, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = A[i % n];
    for (int k = 0; k < i % 7; ++k) {
        if ((x + k) % 3 == 0) x = x / 2 + k;
        else if (x < 0) x = -x % 1000;
        else x = x * 3 - k;
    }
    B[i] = x;
}

__device__ __noinline__ float polynomial(float x, int degree) {
    float sum = 0.0f;
    for (int k = degree; k >= 0; --k) sum = sum * x + (k % 2 ? 1.0f : -0.5f);
    return sum;
}

extern "C" __global__ void calls(const float* A, float* B, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    B[i] = polynomial(A[i % n], i % 5) + polynomial(0.25f, 2);
}

extern "C" __global__ void shuffles(const float* A, float* B, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = A[i % n];
    for (int by = 16; by; by /= 2) x += __shfl_down_sync(0xffffffff, x, by);
    x = __shfl_sync(0xffffffff, x, 0) + __shfl_xor_sync(0xffffffff, A[i % n], 5);
    unsigned yes = __ballot_sync(0xffffffff, x > 0.0f);
    if (__any_sync(0xffffffff, i == 3)) x += __popc(yes);
    B[i] = x + __shfl_up_sync(0xffffffff, x, 1, 8);
}

extern "C" __global__ void words(const int* A, long long* B, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned u = A[i % n];
    long long wide = (long long)A[i % n] * 12345 - (u >> 3) + (u << (i % 33));
    short low = (short)u;
    unsigned char byte = (unsigned char)(u >> 8);
    wide = wide * 31 + low + byte + __brev(u) + __clz(u) + __popc(u) + (long long)(A[i % n] / (i % 5 + 1));
    wide += (wide % (i + 3)) + ((unsigned long long)wide >> (i % 60)) + min(A[i % n], i) - max(i, -7) + abs(A[i % n]);
    B[i] = wide ^ (wide << 7);
}

extern "C" __global__ void floats(const float* A, double* B, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = A[i % n];
    double d = x * 1.5 + i;
    float y = fminf(x, 0.5f) + fmaxf(-x, 0.25f) + fabsf(x) / (1.0f + x * x) + sqrtf(fabsf(x)) + floorf(x * 10) + truncf(x * 7);
    B[i] = d / (fabs(d) + 1.0) + y + (int)(x * 100) + (unsigned)fabsf(x * 1e6f) + (float)(long long)d + rsqrtf(fabsf(x) + 1) +
           __saturatef(x) + __saturatef(x / (i % 2)) + __double2int_rn(d * 7);
}

extern "C" __global__ void own_arrays(const float* A, float* B, int n) {
    float own[6];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 6; ++k) own[k] = A[(i + k) % n];
    for (int k = 0; k < 6; ++k) own[(k * 5 + i) % 6] += own[k];
    B[i] = own[i % 6] - own[(i + 3) % 6];
}

extern "C" __global__ void vectors(const float4* A, float4* B, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = A[i % (n / 4)];
    B[i] = make_float4(v.w, v.z + v.x, v.y, i);
}

extern "C" __global__ void in_place(float* A, float* B, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { A[i] += 1.0f; A[i] *= 2.0f; B[i] = A[i]; }
}

extern "C" __global__ void warp_steps(const float* A, float* B, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = A[(blockIdx.x * blockDim.x + t) % n];
    __syncwarp();
    for (int by = 16; by; by /= 2) {
        float other = t % 32 + by < 32 ? s[t + by] : 0.0f;
        __syncwarp();
        s[t] += other;
        __syncwarp();
    }
    B[blockIdx.x * blockDim.x + t] = s[t / 32 * 32];
}

extern "C" __global__ void histogram(const int* A, int* B, int n) {
    __shared__ unsigned counts[16];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 16) counts[t] = 0;
    __syncthreads();
    atomicAdd(&counts[A[i % n] & 15], 1u + t % 3);
    __syncthreads();
    if (t < 16) atomicAdd(B + t, (int)counts[t]);
}

extern "C" __global__ void extremes(const int* A, long long* B, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = A[i % n];
    atomicMin(B + 1, (long long)x << 8);
    atomicMax((unsigned long long*)B + 2, (unsigned long long)(unsigned)x);
    atomicOr((unsigned*)(B + 3), (unsigned)x);
    atomicXor((unsigned*)(B + 4), (unsigned)x);
    atomicMax((int*)(B + 5), x);
    atomicAdd((unsigned long long*)B + 6, (unsigned long long)x);
}

extern "C" __global__ void tickets(const int* A, int* B, int n) {
    __shared__ int next[4];  // each has its turns in one order, whoever of the warps comes first
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 4) next[t] = 5 * t;
    __syncthreads();
    int mine = atomicAdd(&next[0], 1 + t % 2), all = atomicAdd(B, 3);
    mine = mine * 1000 + all + atomicExch(&next[1], i);
    B[1 + i] = mine + atomicInc((unsigned*)&next[2], 40) + atomicDec((unsigned*)&next[3], 7);
}

extern "C" __global__ void swaps(const int* A, int* B, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = A[i % n] >> 8;
    unsigned long long* own = (unsigned long long*)(B + 4) + i;
    unsigned long long before = atomicExch(own, (unsigned long long)x << 7);
    before += atomicCAS(B, i % 3 ? 0 : A[(i + 1) % n] >> 8, x);
    atomicAdd(own, atomicCAS(own, i % 2 ? (unsigned long long)x << 7 : 1, before + 5));
}

extern "C" __global__ void float_sums(const float* A, double* B, int n) {
    __shared__ float sum;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) sum = 0.0f;
    __syncthreads();
    float before = atomicAdd(&sum, A[i % n] * 1e-39f);
    atomicAdd((float*)B, A[i % n] * 1e-39f);
    B[2 + i] = before + atomicAdd(B + 1, (double)A[i % n]);
}

extern "C" __global__ void strong(const float* A, float* B, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile float* v = B;
    v[i] = A[i % n];
    __threadfence();
    float x = v[i];
    __threadfence_block();
    v[i] = x + 1.0f;
}

struct Padded {
    char small;
    double large;
};

extern "C" __global__ void copies_gaps(const double* A, double* B, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Padded own[2];
    own[0].small = i % 7;
    own[0].large = A[i % n];
    own[1] = own[0];
    volatile Padded* last = own + 1;
    B[i] = last->small + last->large;
}

extern "C" __global__ void set_on_some_ways(const float* A, float* B, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float last, other;
    for (int k = 0; k < i % 3; ++k) {
        last = A[(i + k) % n];
        if (k == 1) other = last * 2.0f;
    }
    float sum = i % 3 ? last : 0.5f;
    if (i % 3 == 2) sum += other;
    B[i] = sum;
}
