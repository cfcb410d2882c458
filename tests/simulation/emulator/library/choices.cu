// A switch with many cases, an early exit from a loop, short-circuit conditions.
__device__ float apply(int operation, float a, float b) {
    switch (operation) {
        case 0: return a + b;
        case 1: return a - b;
        case 2: return a * b;
        case 3: return b != 0.0f ? a / b : 0.0f;
        case 4: return fminf(a, b);
        case 5: return fmaxf(a, b);
        case 6: return fabsf(a - b);
        case 7: return sqrtf(fabsf(a));
        case 8: return floorf(a) + ceilf(b);
        case 9: return truncf(a) - rintf(b);
        default: return -1.0f;
    }
}

__global__ void kernel(const int* operations, const float* a, const float* b, float* out, int* steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = apply(operations[i], a[i], b[i]);
    int x = operations[i] + 1, count = 0;
    while (true) {
        if (x == 1 || count > 100) break;
        x = x % 2 == 0 ? x / 2 : 3 * x + 1;
        ++count;
    }
    steps[i] = count;
}
