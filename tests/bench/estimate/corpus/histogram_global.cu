// Every thread counts its value in global memory.

extern "C" __global__ void histogram_global(const int* in, unsigned* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&out[in[i]], 1u);
}
