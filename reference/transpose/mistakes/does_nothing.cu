#define TILE_DIM 32
#define BLOCK_ROWS 8

__global__ void transpose(const float* input, float* output, int M, int N) {
}
