// One histogram per warp in dynamic shared memory, added up at the end; four bytes are loaded at a time.
extern __shared__ unsigned copies[];

__global__ void kernel(const uchar4* data, unsigned* bins, int quads) {
    int warps = blockDim.x / 32;
    unsigned* mine = copies + 256 * (threadIdx.x / 32);
    for (int i = threadIdx.x; i < 256 * warps; i += blockDim.x) copies[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
        uchar4 four = data[i];
        atomicAdd(mine + four.x, 1u);
        atomicAdd(mine + four.y, 1u);
        atomicAdd(mine + four.z, 1u);
        atomicAdd(mine + four.w, 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        unsigned sum = 0;
        for (int warp = 0; warp < warps; ++warp) sum += copies[256 * warp + bin];
        if (sum) atomicAdd(bins + bin, sum);
    }
}
