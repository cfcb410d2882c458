// Counts privately, with a stride; all numbers unsigned.
#define BLOCK_DIM 256
typedef unsigned int uint32;
__global__ void histogram(const unsigned char *buffer, int *histo, int size, int nbins) {
  __shared__ int priv[256];
  for (uint32 b = threadIdx.x; b < nbins; b += blockDim.x) priv[b] = 0;
  __syncthreads();
  uint32 i = blockIdx.x * blockDim.x + threadIdx.x, stride = blockDim.x * gridDim.x;
  while (i < size) {
    int bin = (buffer[i] * nbins) >> 8;
    atomicAdd(&priv[bin], (int)buffer[i]);
    i += stride;
  }
  __syncthreads();
  for (uint32 b = threadIdx.x; b < nbins; b += blockDim.x) atomicAdd(&histo[b], priv[b]);
}
