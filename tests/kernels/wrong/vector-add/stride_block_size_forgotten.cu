// A grid-stride loop with a helper.
__device__ __forceinline__ int global_id() { return threadIdx.x + blockIdx.x; }
__global__ void vectorAdd(const float *x, const float *y, float *z, int len) {
  const int step = gridDim.x * blockDim.x;
  int idx = global_id(); if (idx < len) z[idx] = x[idx] + y[idx];
}
