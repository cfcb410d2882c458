// Each kernel goes past the end of one thing by one element, or by far, and lands in another.
__constant__ float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__device__ int counts[16];
__device__ float table[2][3];
struct Cell { int id; float load[3]; char mark; };
union Word { float real; unsigned bits; unsigned char bytes[4]; };

extern "C" __global__ void into_the_next_array(float* A) {
    __shared__ float a[32], b[32];
    b[threadIdx.x] = 2.0f;
    a[threadIdx.x + 1] = 1.0f;
    __syncthreads();
    A[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}
extern "C" __global__ void before_the_first_array(float* A) {
    __shared__ float a[32], b[32];
    a[threadIdx.x] = 2.0f;
    b[(int)threadIdx.x - 1] = 1.0f;
    __syncthreads();
    A[threadIdx.x] = a[threadIdx.x];
}
extern "C" __global__ void past_the_last_row(float* A) {
    __shared__ float tile[4][8], rest[4][8];
    rest[threadIdx.x / 8][threadIdx.x % 8] = 0.0f;
    tile[threadIdx.x / 8 + 1][threadIdx.x % 8] = 1.0f;
    A[threadIdx.x] = rest[0][0];
}
extern "C" __global__ void static_into_dynamic(float* A) {
    __shared__ float a[32];
    extern __shared__ float rest[];
    rest[threadIdx.x] = 0.0f;
    a[threadIdx.x + 1] = 1.0f;
    A[threadIdx.x] = rest[threadIdx.x];
}
extern "C" __global__ void no_dynamic_memory(float* A) {
    extern __shared__ float rest[];
    rest[threadIdx.x] = 1.0f;
    A[threadIdx.x] = rest[threadIdx.x];
}
__device__ void zero(float* from, int n) {
    for (int i = 0; i < n; ++i) from[i] = 0.0f;
}
extern "C" __global__ void in_a_function(float* A) {
    __shared__ float a[8], b[8];
    b[threadIdx.x % 8] = 1.0f;
    __syncthreads();
    if (threadIdx.x == 0) zero(a, 9);
    __syncthreads();
    A[threadIdx.x] = b[threadIdx.x % 8];
}
extern "C" __global__ void of_two_buffers(float* A) {
    __shared__ float front[32], back[32], other[32];
    float *from = front, *to = back;
    for (int k = 0; k < 3; ++k) {
        to[threadIdx.x + 1] = k;
        float* swapped = from;
        from = to;
        to = swapped;
        __syncthreads();
    }
    other[threadIdx.x] = 0.0f;
    A[threadIdx.x] = other[threadIdx.x];
}
extern "C" __global__ void atomic_past_the_end(int* A) {
    __shared__ int bins[32], total[1];
    bins[threadIdx.x] = 0;
    total[0] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x + 1], 1);
    __syncthreads();
    A[threadIdx.x] = bins[threadIdx.x];
}
extern "C" __global__ void vector_past_the_end(float* A) {
    __shared__ __align__(16) float a[32];
    __shared__ __align__(16) float b[32];
    b[threadIdx.x] = 0.0f;
    __syncthreads();
    if (threadIdx.x < 9) *(float4*)&a[4 * threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncthreads();
    A[threadIdx.x] = b[threadIdx.x];
}
extern "C" __global__ void far_into_another_argument(float* A, float* B) {
    A[threadIdx.x + 100000 * (threadIdx.x == 7)] = 1.0f;
    B[threadIdx.x] = 2.0f;
}
extern "C" __global__ void module_variables(int* A, int n) {
    counts[threadIdx.x] = 1;
    A[threadIdx.x] = weights[threadIdx.x % 8 + n] + table[n / 4][threadIdx.x % 3];
}
extern "C" __global__ void writes_a_constant(float* A) {
    float* w = const_cast<float*>(weights);
    w[threadIdx.x % 8] = A[threadIdx.x];
}
extern "C" __global__ void local_arrays(float* A, int n) {
    float mine[4], yours[4];
    for (int k = 0; k < n; ++k) { mine[k] = k; yours[n - k - 1] = k; }
    A[threadIdx.x] = mine[n / 2] + yours[0];
}
extern "C" __global__ void local_rows(float* A, int n) {
    int box[2][3];
    float after[5];
    for (int k = 0; k < 5; ++k) after[k] = k;
    for (int k = 0; k < 6; ++k) box[k / 3][k % 3] = k;
    A[threadIdx.x] = box[n / 3][n % 3] + after[n];
}
extern "C" __global__ void by_difference(float* A) {
    __shared__ float a[32], b[32];
    long long apart = b - a;
    a[threadIdx.x] = 1.0f;
    (a + apart)[threadIdx.x] = 2.0f;
    A[threadIdx.x] = b[threadIdx.x];
}

// Nothing is wrong with these.
extern "C" __global__ void clean_rows_and_members(float* A, int n) {
    __shared__ float tile[4][8];
    __shared__ Cell cells[8];
    __shared__ Word words[8];
    tile[0][threadIdx.x] = 1.0f;
    if (threadIdx.x < 8) {
        cells[threadIdx.x].load[n - 3] = 2.0f;
        cells[threadIdx.x].load[0] = 1.0f;
        words[threadIdx.x].real = 1.0f;
        words[threadIdx.x].bytes[3] = 0x3f;
    }
    __syncthreads();
    float* flat = &tile[0][0];
    unsigned* bits = (unsigned*)tile;
    A[threadIdx.x] = flat[31 - threadIdx.x] + (bits[threadIdx.x] != 0) + cells[threadIdx.x % 8].load[n - 3]
        + words[threadIdx.x % 8].bits;
}
extern "C" __global__ void clean_pool_by_hand(float* A) {
    extern __shared__ char pool[];
    float* a = (float*)pool;
    int* b = (int*)(a + 32);
    double* c = (double*)(b + 32);
    a[threadIdx.x] = 1.0f;
    b[threadIdx.x] = 2;
    c[threadIdx.x] = 3.0;
    A[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x] + c[threadIdx.x];
}
extern "C" __global__ void clean_two_names_of_one_pool(float* A) {
    extern __shared__ float reals[];
    extern __shared__ int wholes[];
    reals[threadIdx.x] = 1.0f;
    wholes[32 + threadIdx.x] = 2;
    A[threadIdx.x] = reals[threadIdx.x] + wholes[32 + threadIdx.x];
}
extern "C" __global__ void clean_walk_to_the_end(float* A) {
    __shared__ float a[32], b[32];
    a[threadIdx.x] = 1.0f;
    b[threadIdx.x] = 2.0f;
    __syncthreads();
    float sum = 0.0f;
    for (float* p = a; p != a + 32; ++p) sum += *p;
    for (float* p = b + 32; p-- != b;) sum += *p;
    A[threadIdx.x] = sum;
}
extern "C" __global__ void clean_choice_of_arrays(float* A, float* B) {
    __shared__ float a[32], b[32];
    float* p = threadIdx.x % 2 ? a : b;
    float* q = threadIdx.x % 3 ? p : A;
    a[threadIdx.x] = b[threadIdx.x] = A[threadIdx.x] = 0.0f;
    __syncthreads();
    p[threadIdx.x] = 1.0f;
    float* all[2] = {a, b};
    all[threadIdx.x % 2 == 0][threadIdx.x] = 3.0f;
    B[threadIdx.x] = q[threadIdx.x];
}
__device__ float* longer(float* a, float* b, int n) { return n > 3 ? a : b; }
__device__ __noinline__ float sum_of(const float* from, int n) {
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) sum += from[k];
    return sum;
}
extern "C" __global__ void clean_through_functions(float* A, int n) {
    __shared__ float small[8], large[64];
    float mine[6];
    small[threadIdx.x % 8] = 1.0f;
    large[threadIdx.x] = large[threadIdx.x + 32] = 2.0f;
    for (int k = 0; k < 6; ++k) mine[k] = k;
    __syncthreads();
    A[threadIdx.x] = sum_of(small, 8) + sum_of(large, 64) + sum_of(mine, 6) + longer(large, small, n)[n];
}
