// Several generations on a torus that fits in the shared memory of one block.
#define SIDE 32
__global__ void kernel(const unsigned char* start, unsigned char* end, int generations) {
    __shared__ unsigned char world[2][SIDE][SIDE];
    int x = threadIdx.x, now = 0;
    for (int y = threadIdx.y; y < SIDE; y += blockDim.y) world[0][y][x] = start[y * SIDE + x];
    __syncthreads();
    for (int g = 0; g < generations; ++g) {
        for (int y = threadIdx.y; y < SIDE; y += blockDim.y) {
            int alive = 0;
            for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx)
                    if (dx || dy) alive += world[now][(y + dy + SIDE) % SIDE][(x + dx + SIDE) % SIDE];
            world[!now][y][x] = alive == 3 || (alive == 2 && world[now][y][x]);
        }
        __syncthreads();
        now = !now;
    }
    for (int y = threadIdx.y; y < SIDE; y += blockDim.y) end[y * SIDE + x] = world[now][y][x];
}
