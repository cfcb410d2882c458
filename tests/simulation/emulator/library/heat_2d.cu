// A step of the heat equation on a plane; the border stays as it is.
__global__ void kernel(const float* now, float* next, int width, int height, float k) {
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= width || y >= height) return;
    int i = y * width + x;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        next[i] = now[i];
        return;
    }
    float around = now[i - 1] + now[i + 1] + now[i - width] + now[i + width];
    next[i] = now[i] + k * (around - 4.0f * now[i]);
}
