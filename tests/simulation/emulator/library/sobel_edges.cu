// Edges of a grey image: bytes through the read-only path, a gradient, a square root, saturation.
__device__ __forceinline__ int at(const unsigned char* image, int x, int y, int width, int height) {
    x = x < 0 ? 0 : x >= width ? width - 1 : x;
    y = y < 0 ? 0 : y >= height ? height - 1 : y;
    return __ldg(image + y * width + x);
}

__global__ void kernel(const unsigned char* image, unsigned char* edges, int width, int height) {
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= width || y >= height) return;
    int gx = 0, gy = 0;
    for (int k = -1; k <= 1; ++k) {
        int weight = k == 0 ? 2 : 1;
        gx += weight * (at(image, x + 1, y + k, width, height) - at(image, x - 1, y + k, width, height));
        gy += weight * (at(image, x + k, y + 1, width, height) - at(image, x + k, y - 1, width, height));
    }
    float size = sqrtf((float)(gx * gx + gy * gy));
    edges[y * width + x] = (unsigned char)fminf(size, 255.0f);
}
