// Staff only. What traffic is compared with: neighbouring threads work on neighbouring elements, so that a warp asks
// for as few sectors as its elements can lie in.

__global__ void vectorAdd(const float* A, const float* B, float* C, int N) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    C[i] = A[i] + B[i];
}
