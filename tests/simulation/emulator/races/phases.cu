// Phases of one kernel, names for one memory, and other surprises.
// launch: grid 2, block 64: in float32[128], inout float32[128], out float32[128]

// Two names for one array: the second begins in the middle of the first.
extern "C" __global__ void racy_two_names(const float* in, float* data, float* out) {
    int t = threadIdx.x;
    if (blockIdx.x == 1) return;
    float *first = data, *second = data + 32;
    first[t] = in[t];    // @first
    out[t] = second[t];  // race RAW data @first
}

extern "C" __global__ void clean_two_names(const float* in, float* data, float* out) {
    int t = threadIdx.x;
    if (blockIdx.x == 1) return;
    float *first = data, *second = data + 64;
    first[t] = in[t];
    out[t] = second[t];
}

// The read-only path reads what others write in the same launch.
extern "C" __global__ void racy_read_only_path(const float* in, float* data, float* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    data[i] = 2.0f * in[i];  // @data
    __syncthreads();
    out[i] = __ldg(&data[127 - i]);  // race RAW data @data
}

extern "C" __global__ void clean_read_only_path(const float* in, float* data, float* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    data[i] = 2.0f * in[i];
    __syncthreads();
    out[i] = __ldg(&in[127 - i]);
}

// Dividing by a total that other blocks still add to.
// launch: grid 2, block 64: in float32[128], inout float32[2] all 1, out float32[128]
extern "C" __global__ void racy_normalise(const float* in, float* total, float* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float* sum = &total[0];
    atomicAdd(sum, in[i] * in[i]);  // @add
    __syncthreads();
    out[i] = in[i] / *sum;  // race RAW total @add
}

extern "C" __global__ void clean_normalise(const float* in, float* total, float* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float* sum = &total[blockIdx.x];
    atomicAdd(sum, in[i] * in[i]);
    __syncthreads();
    out[i] = in[i] / *sum;
}

// `volatile` reads and writes memory each time, in any order.
// launch: grid 2, block 64: in float32[128], out float32[128]
extern "C" __global__ void racy_volatile_exchange(const float* in, float* out) {
    __shared__ volatile float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];  // @put
    out[i] = row[63 - t];  // race RAW row @put
}

extern "C" __global__ void clean_volatile_exchange(const float* in, float* out) {
    __shared__ volatile float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    __syncthreads();
    out[i] = row[63 - t];
}

extern "C" __global__ void racy_volatile_counter(const float* in, float* out) {
    __shared__ volatile int count;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t == 0) count = 0;
    __syncthreads();
    int before = count;  // @count
    count = before + (in[i] > 0.0f);  // race WAR count @count; race WAW count here
    __syncthreads();
    out[i] = count;
}

extern "C" __global__ void clean_volatile_counter(const float* in, float* out) {
    __shared__ volatile int count;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t == 0) count = 0;
    __syncthreads();
    atomicAdd((int*)&count, in[i] > 0.0f);
    __syncthreads();
    out[i] = count;
}

// Dynamic shared memory in two parts of different types: sizes are in bytes.
// launch: grid 2, block 64, shared 320: in float32[128], out float32[128]
extern "C" __global__ void racy_parts_of_a_pool(const float* in, float* out) {
    extern __shared__ char bytes[];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float* values = (float*)bytes;
    char* signs = bytes + 64;
    values[t] = in[i];        // @value
    signs[t] = in[i] < 0.0f;  // race WAW bytes @value
    __syncthreads();
    out[i] = signs[63 - t] ? -1.0f : values[63 - t];
}

extern "C" __global__ void clean_parts_of_a_pool(const float* in, float* out) {
    extern __shared__ char bytes[];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float* values = (float*)bytes;
    char* signs = bytes + 64 * sizeof(float);
    values[t] = in[i];
    signs[t] = in[i] < 0.0f;
    __syncthreads();
    out[i] = signs[63 - t] ? -1.0f : values[63 - t];
}

// The tail of a loop needs its barriers as well.
// launch: grid 1, block 64: in float32[200], out float32[64], 200
extern "C" __global__ void racy_tail(const float* in, float* out, int n) {
    __shared__ float row[64];
    int t = threadIdx.x, k = 0;
    float sum = 0.0f;
    for (; k + 64 <= n; k += 64) {
        row[t] = in[k + t];
        __syncthreads();
        sum += row[63 - t];
        __syncthreads();
    }
    if (k + t < n) row[t] = in[k + t];  // @tail
    for (int j = 0; j < n - k; ++j) sum += row[j];  // race RAW row @tail
    out[t] = sum;
}

extern "C" __global__ void clean_tail(const float* in, float* out, int n) {
    __shared__ float row[64];
    int t = threadIdx.x, k = 0;
    float sum = 0.0f;
    for (; k + 64 <= n; k += 64) {
        row[t] = in[k + t];
        __syncthreads();
        sum += row[63 - t];
        __syncthreads();
    }
    if (k + t < n) row[t] = in[k + t];
    __syncthreads();
    for (int j = 0; j < n - k; ++j) sum += row[j];
    out[t] = sum;
}

// Scratch memory that is used for something else a line later.
extern "C" __global__ void racy_scratch_again(const float* in, float* out, int n) {
    __shared__ float scratch[64];
    int t = threadIdx.x;
    scratch[t] = in[t];
    __syncthreads();
    float first = scratch[63 - t];  // @first
    scratch[t] = in[n - 64 + t];  // race WAR scratch @first
    __syncthreads();
    out[t] = first + scratch[63 - t];
}

extern "C" __global__ void clean_scratch_again(const float* in, float* out, int n) {
    __shared__ float scratch[64];
    int t = threadIdx.x;
    scratch[t] = in[t];
    __syncthreads();
    float first = scratch[63 - t];
    __syncthreads();
    scratch[t] = in[n - 64 + t];
    __syncthreads();
    out[t] = first + scratch[63 - t];
}

// Scattering: two indices may be the same.
// launch: grid 2, block 64: in int32[128] below 128, inout int32[128]
extern "C" __global__ void racy_scatter(const int* to, int* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[to[i]] = i;  // race WAW out here
}

extern "C" __global__ void clean_scatter(const int* to, int* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i ^ to[0]] = i;
}

// Whoever finds it says where: several may.
// launch: grid 2, block 64: in int32[128] below 8, inout int32[1] all 1000, 3
extern "C" __global__ void racy_search(const int* in, int* place, int key) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (in[i] == key) place[0] = i;  // race WAW place here
}

extern "C" __global__ void clean_search(const int* in, int* place, int key) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (in[i] == key) atomicMin(place, i);
}

// One thread adds up while the others still write.
// launch: grid 2, block 64: in int32[128], out int32[2]
extern "C" __global__ void racy_one_adds_up(const int* in, int* out) {
    __shared__ int row[64];
    int t = threadIdx.x;
    row[t] = in[blockIdx.x * 64 + t];  // @put
    if (t == 0) {
        int sum = 0;
        for (int k = 0; k < 64; ++k) sum += row[k];  // race RAW row @put
        out[blockIdx.x] = sum;
    }
}

extern "C" __global__ void clean_one_adds_up(const int* in, int* out) {
    __shared__ int row[64];
    int t = threadIdx.x;
    row[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    if (t == 0) {
        int sum = 0;
        for (int k = 0; k < 64; ++k) sum += row[k];
        out[blockIdx.x] = sum;
    }
}

// A counter that atomics raise is read by an atomic, or after a barrier.
extern "C" __global__ void racy_plain_look(const int* in, int* out) {
    __shared__ int done;
    int t = threadIdx.x;
    if (t == 0) done = 0;
    __syncthreads();
    if (in[blockIdx.x * 64 + t] >= 0) atomicAdd(&done, 1);  // @add
    if (t == 40) out[blockIdx.x] = done;  // race RAW done @add
}

extern "C" __global__ void clean_plain_look(const int* in, int* out) {
    __shared__ int done;
    int t = threadIdx.x;
    if (t == 0) done = 0;
    __syncthreads();
    if (in[blockIdx.x * 64 + t] >= 0) atomicAdd(&done, 1);
    __syncthreads();
    if (t == 40) out[blockIdx.x] = done;
}
