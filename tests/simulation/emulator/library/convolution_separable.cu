// A Gaussian in two passes within one block: rows into shared memory, then columns out of it.
#define WIDTH 32
#define HEIGHT 8
#define R 3
__constant__ int gauss[2 * R + 1] = {1, 6, 15, 20, 15, 6, 1};

__global__ void kernel(const short* image, int* result, int width, int height) {
    __shared__ int rows[HEIGHT + 2 * R][WIDTH];
    int x = blockIdx.x * WIDTH + threadIdx.x;
    for (int r = threadIdx.y; r < HEIGHT + 2 * R; r += HEIGHT) {
        int y = (int)blockIdx.y * HEIGHT + r - R, sum = 0;
        for (int k = -R; k <= R; ++k) {
            if (x + k >= 0 && x + k < width && y >= 0 && y < height) sum += gauss[k + R] * image[y * width + x + k];
        }
        rows[r][threadIdx.x] = sum;
    }
    __syncthreads();
    int y = blockIdx.y * HEIGHT + threadIdx.y, sum = 0;
    for (int k = 0; k <= 2 * R; ++k) sum += gauss[k] * rows[threadIdx.y + k][threadIdx.x];
    if (x < width && y < height) result[y * width + x] = (sum + 2048) >> 12;
}
