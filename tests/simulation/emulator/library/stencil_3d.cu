// A 7-point stencil: blocks cover a plane and march along z with three values in registers.
__global__ void kernel(const double* in, double* out, int nx, int ny, int nz) {
    extern __shared__ double plane[];
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    bool inside = x < nx && y < ny;
    int size = nx * ny, place = y * nx + x, pitch = blockDim.x + 2;
    int own = (threadIdx.y + 1) * pitch + threadIdx.x + 1;
    double below = 0, here = inside ? in[place] : 0, above = 0;
    for (int z = 0; z < nz; ++z) {
        above = inside && z + 1 < nz ? in[(z + 1) * size + place] : 0;
        plane[own] = here;
        if (threadIdx.x == 0) plane[own - 1] = inside && x > 0 ? in[z * size + place - 1] : 0;
        if (threadIdx.x == blockDim.x - 1) plane[own + 1] = inside && x + 1 < nx ? in[z * size + place + 1] : 0;
        if (threadIdx.y == 0) plane[own - pitch] = inside && y > 0 ? in[z * size + place - nx] : 0;
        if (threadIdx.y == blockDim.y - 1) plane[own + pitch] = inside && y + 1 < ny ? in[z * size + place + nx] : 0;
        __syncthreads();
        if (inside) {
            double sides = plane[own - 1] + plane[own + 1] + plane[own - pitch] + plane[own + pitch];
            out[z * size + place] = sides + below + above - 6 * here;
        }
        __syncthreads();
        below = here;
        here = above;
    }
}
