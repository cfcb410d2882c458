#define BLOCK_SIZE 256

__global__ void inclusiveScan(const float* input, float* output, int N) {
}
