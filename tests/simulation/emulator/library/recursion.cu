// Functions that call themselves and each other.
__device__ __noinline__ unsigned long long fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ bool is_odd(int n);
__device__ __noinline__ bool is_even(int n) { return n == 0 ? true : is_odd(n - 1); }
__device__ __noinline__ bool is_odd(int n) { return n == 0 ? false : is_even(n - 1); }

__global__ void kernel(const int* in, unsigned long long* out, int n) {
    int i = threadIdx.x;
    if (i < n) {
        out[i] = fibonacci(in[i]) * 2 + is_even(in[i]);
    }
}
