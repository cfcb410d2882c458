// A grid-stride loop with a helper.
__device__ __forceinline__ int global_id() { return threadIdx.x + blockIdx.x * blockDim.x; }
__global__ void vectorAdd(const float *x, const float *y, float *z, int len) {
  const int step = gridDim.x * blockDim.x;
  for (int idx = global_id(); idx <= len; idx += step) z[idx] = x[idx] + y[idx];
}
