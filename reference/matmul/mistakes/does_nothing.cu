// Name: ____________   Matriculation number: ____________
#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    // Your code here
}
