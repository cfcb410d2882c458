// Templates: functors, sizes known when compiling, specialisations, recursion that the compiler unrolls.
template <int N>
struct Power {
    static __device__ long long of(long long x) { return (N % 2 ? x : 1) * Power<N / 2>::of(x * x); }
};
template <>
struct Power<0> {
    static __device__ long long of(long long) { return 1; }
};

template <typename T, int N>
struct Small {
    T items[N];
    __device__ T& operator[](int i) { return items[i]; }
};

struct Plus {
    template <typename T>
    __device__ T operator()(T a, T b) const { return a + b; }
};
struct Greater {
    template <typename T>
    __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};

template <typename T, int N, typename Operation>
__device__ T folded(Small<T, N>& values, Operation operation) {
    T result = values[0];
#pragma unroll
    for (int i = 1; i < N; ++i) result = operation(result, values[i]);
    return result;
}

template <typename T, int N>
__device__ void work(const T* in, long long* out, int i) {
    Small<T, N> values;
    for (int k = 0; k < N; ++k) values[k] = in[i * N + k];
    if constexpr (sizeof(T) == 2) values[0] = 7 - values[0];
    out[3 * i] = folded(values, Plus{});
    out[3 * i + 1] = folded(values, Greater{});
    out[3 * i + 2] = Power<5>::of(values[N - 1]);
}

__global__ void kernel(const short* narrow, const int* wide, long long* first, long long* second, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    work<short, 4>(narrow, first, i);
    work<int, 6>(wide, second, i);
}
