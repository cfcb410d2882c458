// Who writes what: flags, overlapping arrays, bytes of a word.
// launch: grid 2, block 64: in int32[128], out int32[128]

// Everybody writes the same flag: nobody can tell, but one writer is enough.
extern "C" __global__ void racy_same_flag(const int* in, int* out) {
    __shared__ int any;
    if (threadIdx.x < 40) any = 1;  // race info WAW any here
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = any;
}

extern "C" __global__ void clean_same_flag(const int* in, int* out) {
    __shared__ int any;
    if (threadIdx.x < 1) any = 1;
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = any;
}

// Everybody writes something else.
extern "C" __global__ void racy_last_writer(const int* in, int* out) {
    __shared__ int last;
    if (threadIdx.x < 40) last = threadIdx.x;  // race WAW last here
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = last;
}

extern "C" __global__ void clean_last_writer(const int* in, int* out) {
    __shared__ int last;
    if (threadIdx.x == 40) last = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = last;
}

// The same flag set from several blocks.
extern "C" __global__ void racy_flag_of_blocks(const int* in, int* out) {
    if (threadIdx.x == 0) out[0] = 1;  // race info WAW out here
}

extern "C" __global__ void clean_flag_of_blocks(const int* in, int* out) {
    if (threadIdx.x == 0) out[blockIdx.x] = 1;
}

// A write through a pointer that may lead to either array.
// launch: grid 1, block 64: inout int32[128], inout int32[128]
extern "C" __global__ void racy_either_array(int* a, int* b) {
    int t = threadIdx.x;
    int sum = a[t] + b[t];      // @both
    int* to = t % 2 ? a : b;
    to[(t + 32) % 64] = sum;    // race WAR a @both; race WAR b @both
}

extern "C" __global__ void clean_either_array(int* a, int* b) {
    int t = threadIdx.x;
    int sum = a[t] + b[t];
    int* to = t % 2 ? a : b;
    to[(t + 64) % 64] = sum;
}

// One dynamic buffer, cut into two arrays: the second begins where the first ends, or does not.
// launch: grid 2, block 64, shared 512: in int32[128], out int32[128]
extern "C" __global__ void racy_two_arrays_in_one(const int* in, int* out) {
    extern __shared__ int pool[];
    int *first = pool, *second = pool + 32, t = threadIdx.x;
    first[t] = in[t];        // @first
    second[t] = in[64 + t];  // race WAW pool @first
    __syncthreads();
    out[blockIdx.x * 64 + t] = first[t] + second[t];
}

extern "C" __global__ void clean_two_arrays_in_one(const int* in, int* out) {
    extern __shared__ int pool[];
    int *first = pool, *second = pool + 64, t = threadIdx.x;
    first[t] = in[t];
    second[t] = in[64 + t];
    __syncthreads();
    out[blockIdx.x * 64 + t] = first[t] + second[t];
}

// Bytes of one word belong to different threads: fine, until somebody takes the whole word.
// launch: grid 2, block 64: in uint8[128], out uint8[128]
extern "C" __global__ void racy_bytes_of_a_word(const unsigned char* in, unsigned char* out) {
    __shared__ unsigned char bytes[64];
    int t = threadIdx.x;
    bytes[t] = in[t];                            // @byte
    unsigned char other = bytes[t < 63 ? t + 1 : t];  // race RAW bytes @byte
    out[blockIdx.x * 64 + t] = other;
}

extern "C" __global__ void clean_bytes_of_a_word(const unsigned char* in, unsigned char* out) {
    __shared__ unsigned char bytes[64];
    int t = threadIdx.x;
    bytes[t] = in[t];
    unsigned char other = bytes[t < 64 ? t : 63];
    out[blockIdx.x * 64 + t] = other;
}

// Four elements at once.
// launch: grid 1, block 64: in float32[256], out float32[256]
extern "C" __global__ void racy_vector_store(const float4* in, float* out) {
    int t = threadIdx.x;
    float4* four = (float4*)out;
    four[t] = in[t];             // @four
    if (t < 63) out[4 * t + 4] = 0.0f;  // race WAW out @four
}

extern "C" __global__ void clean_vector_store(const float4* in, float* out) {
    int t = threadIdx.x;
    float4* four = (float4*)out;
    four[t] = in[t];
    if (t < 63) out[4 * t + 3] = 0.0f;
}
