// Staff only. The baseline: one thread of each block adds up the row, the others watch.

#define BLOCK_SIZE 256

__global__ void inclusiveScan(const float* input, float* output, int N) {
    if (threadIdx.x != 0) return;

    const int row = blockIdx.x * N;
    float sum = 0.0f;
    for (int column = 0; column < N; ++column) {
        sum += input[row + column];
        output[row + column] = sum;
    }
}
