// A 2-D convolution with a filter in constant memory; outside the image counts as 0.
#define R 2
__constant__ float filter[2 * R + 1][2 * R + 1] = {
    {1, 4, 6, 4, 1}, {4, 16, 24, 16, 4}, {6, 24, 36, 24, 6}, {4, 16, 24, 16, 4}, {1, 4, 6, 4, 1}};
__device__ const float scale = 1.0f / 256.0f;

__global__ void kernel(const float* image, float* result, int width, int height) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    float sum = 0.0f;
    for (int i = -R; i <= R; ++i) {
        for (int j = -R; j <= R; ++j) {
            int r = row + i, c = column + j;
            if (r >= 0 && r < height && c >= 0 && c < width) {
                sum += filter[i + R][j + R] * image[r * width + c];
            }
        }
    }
    result[row * width + column] = sum * scale;
}
