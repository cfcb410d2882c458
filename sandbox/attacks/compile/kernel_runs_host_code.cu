// Host code in a kernel's file: a constructor, a `main`, initialisers; and assembly for the host.
//
// After it: none of it ran. Of a kernel's file only the device's part is ever compiled to the end.
#include <cstdlib>

asm(".incbin \"/canary/file\"");

__attribute__((constructor)) static void early() { system("echo reached: host code ran"); }
static const int status = system("echo reached: host code ran");

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) C[row * N + col] = 0.0f;
}

int main() { return system("echo reached: host code ran"); }
