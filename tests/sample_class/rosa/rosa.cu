// Name: Rosa        Task: tiled matrix multiplication
#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    // two shared tiles, one for A and one for B

    // which element of C does this thread compute?
}
