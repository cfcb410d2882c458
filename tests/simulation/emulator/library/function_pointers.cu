// Functions in a table, chosen at run time, and one handed to another function.
typedef float (*Operation)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float subtract(float a, float b) { return a - b; }
__device__ float larger(float a, float b) { return a > b ? a : b; }
__device__ float product(float a, float b) { return a * b; }
__device__ Operation operations[4] = {add, subtract, larger, product};

__device__ __noinline__ float twice(Operation operation, float a, float b) { return operation(operation(a, b), b); }

__global__ void kernel(const int* which, const float* a, const float* b, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Operation chosen = operations[which[i] & 3];
    out[2 * i] = chosen(a[i], b[i]);
    out[2 * i + 1] = twice(chosen, a[i], b[i]);
}
