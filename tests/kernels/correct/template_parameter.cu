// style: tile size as template parameter, explicit instantiation
template <int T>
__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[T][T];
    __shared__ float Bs[T][T];
    int row = blockIdx.y * T + threadIdx.y;
    int col = blockIdx.x * T + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (K + T - 1) / T; t++) {
        int kx = t * T + threadIdx.x;
        int ky = t * T + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = (row < M && kx < K) ? A[row * K + kx] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = (ky < K && col < N) ? B[ky * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < T; k++) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

template __global__ void tiledMatMul<16>(float*, float*, float*, int, int, int);
