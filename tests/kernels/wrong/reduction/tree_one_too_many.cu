// A tree in shared memory, halving; BLOCKSIZE is the macro.
#define BLOCKSIZE 128
__global__ void sumReduce(const float *in, float *out, int n) {
  __shared__ float buf[BLOCKSIZE];
  unsigned tid = threadIdx.x;
  float mine = 0.f;
  for (unsigned i = blockIdx.x * blockDim.x + tid; i <= n; i += blockDim.x * gridDim.x) mine += in[i];
  buf[tid] = mine;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
    if (tid < half) buf[tid] += buf[tid + half];
    __syncthreads();
  }
  if (tid == 0) atomicAdd(out, buf[0]);
}
