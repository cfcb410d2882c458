#define BLOCK_SIZE 256

__global__ void inclusiveScan(const float* input, float* output, int N) {
    const int row = blockIdx.x * N;
    for (int column = threadIdx.x; column < N; column += BLOCK_SIZE) {
        float sum = 0.0f;
        for (int k = 0; k <= column; ++k) {
            sum += input[row + k];
        }
        output[row + column] = sum;
    }
}
