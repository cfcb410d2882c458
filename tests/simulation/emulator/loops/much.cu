// Loops that take long. Those named ok_ end, though it may be too much work to follow; those named endless_ do not.
#define KERNEL(name) extern "C" __global__ void name(int *o, int n)
#define I ((int)threadIdx.x + 1)
__device__ unsigned random_number(unsigned *state) { return *state = *state * 1664525u + 1013904223u; }
__device__ float unit(unsigned *state) { return (random_number(state) >> 8) / 16777216.0f; }

KERNEL(ok_ray_tracing) {
    unsigned state = I; float sum = 0;
    for (int sample = 0; sample < n; sample++) {
        float x, y, z;
        do { x = 2 * unit(&state) - 1; y = 2 * unit(&state) - 1; z = 2 * unit(&state) - 1; } while (x * x + y * y + z * z >= 1);
        for (int depth = 0; depth < 50; depth++) { if (unit(&state) < 0.1f) break; sum += x * y + z; }
    }
    o[I - 1] = (int)sum;
}
KERNEL(ok_rare_number) { unsigned state = I; int k = 0; while (random_number(&state) % 4096 != 7) k++; o[I - 1] = k; }
KERNEL(ok_rare_flag) { unsigned s = I; bool found = false; while (!found) { s = s * 1664525u + 1013904223u; if ((s >> 10) % 8192 == 7) found = true; } o[I - 1] = s; }
KERNEL(ok_collatz) { int worst = 0; for (int i = 1; i < 20 * n; i++) { long long x = i + I; int k = 0; while (x != 1) { x = x % 2 ? 3 * x + 1 : x / 2; k++; } worst = k > worst ? k : worst; } o[I - 1] = worst; }
KERNEL(ok_mandelbrot) {
    int k = 0; float x = 0, y = 0, a = I * 0.02f - 0.5f, b = 0.1f;
    while (k < 100 * n && x * x + y * y <= 4) { float next = x * x - y * y + a; y = 2 * x * y + b; x = next; k++; }
    o[I - 1] = k;
}
KERNEL(ok_euclid) { int a = 1000003 * I, b = 40902, k = 0; for (int r = 0; r < 10 * n; r++) { int x = a + r, y = b; while (y != 0) { int z = x % y; x = y; y = z; k++; } } o[I - 1] = k; }
KERNEL(ok_bisection) { for (int r = 0; r < 10 * n; r++) { int lo = 0, hi = 1 << 20; while (lo < hi) { int mid = (lo + hi) / 2; if (mid < I * 37 + r) lo = mid + 1; else hi = mid; } o[I - 1] = lo; } }
KERNEL(ok_convergence) { bool changed = true; float x = 1e6f * I; while (changed) { float next = x * 0.999f; changed = next > 1; x = next; } o[I - 1] = (int)x; }
KERNEL(ok_counter_in_local_memory) { int count[2] = {0, 0}; int *which = &count[n % 2]; while (*which < 50 * n) *which += 1; o[I - 1] = *which; }
KERNEL(ok_own_counter_in_memory) { while (atomicAdd(o, 1) < 200 * n) { } }
KERNEL(ok_long_and_nested) { int s = 0; for (int i = 0; i < 1000 * n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < 3; k++) s += i ^ j ^ k; o[I - 1] = s; }

KERNEL(endless_fixed_point) { float x = 4.0f * I; while (x != 0.5f) x = x * 0.5f + 0.5f; o[I - 1] = 1; }
KERNEL(endless_euclid) { int a = 12 * I, b = 8; while (b != 0) { int z = a % 8; b = z + 4; } o[I - 1] = a; }
KERNEL(endless_wrong_way) { int k = n; while (k < 2 * n) { o[I - 1] = k; k--; } }
KERNEL(endless_past_its_end) { for (unsigned k = 1; k != (unsigned)n; k += 2) o[I - 1] = k; }
KERNEL(endless_never_below_zero) { unsigned k = n; int s = 0; while (k >= 0) { s += k; k--; } o[I - 1] = s; }
