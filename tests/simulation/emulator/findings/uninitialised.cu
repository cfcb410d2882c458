// Reads of bytes that nobody wrote, in each kind of memory; and copies of such bytes, which harm nobody.
struct Sparse { char tag; int value; char mark; double weight; };

extern "C" __global__ void output_is_added_to(const float* A, float* B) {
    B[threadIdx.x] += A[threadIdx.x];
}
extern "C" __global__ void output_half_written(float* A, float* B) {
    if (threadIdx.x < 16) B[threadIdx.x] = 1.0f;
    __syncthreads();
    A[threadIdx.x] = B[threadIdx.x];
}
extern "C" __global__ void shared_behind_a_guard(float* A, int n) {
    __shared__ float tile[32];
    if (threadIdx.x > n) tile[threadIdx.x] = 1.0f;
    __syncthreads();
    A[threadIdx.x] = tile[threadIdx.x];
}
extern "C" __global__ void shared_never_written(float* A) {
    __shared__ float tile[32];
    A[threadIdx.x] = tile[threadIdx.x];
}
extern "C" __global__ void shared_too_early(float* A, int n) {
    __shared__ float tile[64];
    float sum = 0.0f;
    for (int k = 0; k < 2; ++k) {
        if (threadIdx.x >= 32) {
            if (k == 0) sum += tile[threadIdx.x - 32];
        } else {
            for (int i = 0; i < n; ++i) sum += i;
            tile[threadIdx.x] = sum;
        }
    }
    A[threadIdx.x] = sum;
}
extern "C" __global__ void one_byte_of_a_word(unsigned* A) {
    __shared__ unsigned char bytes[128];
    for (int k = 0; k < 3; ++k) bytes[4 * threadIdx.x + k] = k;
    __syncthreads();
    A[threadIdx.x] = *(unsigned*)&bytes[4 * threadIdx.x];
}
extern "C" __global__ void half_of_a_double(double* A) {
    __shared__ double values[32];
    ((int*)&values[threadIdx.x])[1] = 0x3ff00000;
    __syncthreads();
    A[threadIdx.x] = values[threadIdx.x];
}
extern "C" __global__ void local_element(float* A, int n) {
    float mine[8];
    for (int k = 0; k < n; ++k) mine[k] = k;
    A[threadIdx.x] = mine[(n + threadIdx.x) % 8] * 2.0f;
}
extern "C" __global__ void gap_of_a_structure(int* A) {
    __shared__ Sparse cells[32];
    cells[threadIdx.x].tag = 1;
    cells[threadIdx.x].value = 2;
    __syncthreads();
    A[threadIdx.x] = ((int*)&cells[threadIdx.x])[0];
}

// Nothing is wrong with these.
extern "C" __global__ void clean_copies_of_structures(Sparse* A) {
    __shared__ Sparse cells[32];
    Sparse mine;
    mine.tag = 'a';
    mine.value = 3;
    mine.mark = 'b';
    mine.weight = 2.0;
    cells[threadIdx.x] = mine;
    __syncthreads();
    Sparse other = cells[threadIdx.x ^ 1];
    A[threadIdx.x] = other;
}
extern "C" __global__ void clean_copy_of_half_a_buffer(unsigned char* A, int n) {
    unsigned char buffer[64], copied[64];
    for (int k = 0; k < n; ++k) buffer[k] = k;
    memcpy(copied, buffer, 64);
    A[threadIdx.x] = copied[n - 1];
}
extern "C" __global__ void clean_bytes_then_words(unsigned* A) {
    __shared__ unsigned char bytes[128];
    for (int k = 0; k < 4; ++k) bytes[4 * threadIdx.x + k] = k;
    __syncthreads();
    A[threadIdx.x] = *(unsigned*)&bytes[4 * threadIdx.x];
}
