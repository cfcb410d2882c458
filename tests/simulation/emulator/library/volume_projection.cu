// 3-D blocks in a 3-D grid: the greatest value along z, and how many voxels lie above a threshold.
__global__ void kernel(const unsigned short* volume, unsigned* greatest, unsigned* above, dim3 size, unsigned threshold) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    bool inside = x < size.x && y < size.y && z < size.z;
    unsigned value = inside ? volume[(z * size.y + y) * size.x + x] : 0;
    if (inside) atomicMax(&greatest[y * size.x + x], value);
    int count = __syncthreads_count(inside && value > threshold);
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) atomicAdd(above, (unsigned)count);
}
