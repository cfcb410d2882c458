#define BLOCK_SIZE 128

__global__ void multiplyAdd(const float* A, const float* B, const float* C, float* R, int N) {
}
