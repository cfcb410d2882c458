// The median of 3 x 3 neighbours by a network of minima and maxima in registers.
__device__ void order(int& a, int& b) {
    int least = min(a, b);
    b = max(a, b);
    a = least;
}

__global__ void kernel(const unsigned char* image, unsigned char* result, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= width - 1 || y >= height - 1) return;
    int v[9];
#pragma unroll
    for (int k = 0; k < 9; ++k) v[k] = image[(y + k / 3 - 1) * width + x + k % 3 - 1];
#pragma unroll
    for (int pass = 0; pass < 5; ++pass)
#pragma unroll
        for (int k = 0; k < 8 - pass; ++k) order(v[k], v[k + 1]);
    result[(y - 1) * (width - 2) + x - 1] = v[4];
}
