// A sum over 2 * RADIUS + 1 neighbours, with a halo in shared memory.
#define RADIUS 3
#define BLOCK 64
__global__ void kernel(const int* in, int* out, int n) {
    __shared__ int window[BLOCK + 2 * RADIUS];
    int global = blockIdx.x * BLOCK + threadIdx.x, local = threadIdx.x + RADIUS;
    window[local] = global < n ? in[global] : 0;
    if (threadIdx.x < RADIUS) {
        int left = global - RADIUS, right = global + BLOCK;
        window[local - RADIUS] = left >= 0 ? in[left] : 0;
        window[local + BLOCK] = right < n ? in[right] : 0;
    }
    __syncthreads();
    if (global < n) {
        int sum = 0;
        for (int offset = -RADIUS; offset <= RADIUS; ++offset) {
            sum += window[local + offset];
        }
        out[global] = sum;
    }
}
