// Atomic operations built from compare-and-swap.
// launch: grid 2, block 64: in float32[128], inout float32[4]

// The first look may be plain: the swap fails if it saw something old. Nobody checks a second one.
extern "C" __global__ void racy_looks_again(const float* in, float* sum) {
    int* cell = (int*)&sum[1];
    float mine = in[blockIdx.x * 64 + threadIdx.x];
    int old = *cell, seen;
    do {
        seen = old;
        old = atomicCAS(cell, seen, __float_as_int(__int_as_float(seen) + mine));  // @swap
    } while (old != seen);
    if (__int_as_float(*cell) > 1e9f) sum[2] = 1.0f;  // race RAW sum @swap
}

extern "C" __global__ void clean_looks_again(const float* in, float* sum) {
    int* cell = (int*)&sum[1];
    float mine = in[blockIdx.x * 64 + threadIdx.x];
    int old = *cell, seen;
    do {
        seen = old;
        old = atomicCAS(cell, seen, __float_as_int(__int_as_float(seen) + mine));
    } while (old != seen);
    if (__int_as_float(seen) > 1e9f) sum[2] = 1.0f;
}
