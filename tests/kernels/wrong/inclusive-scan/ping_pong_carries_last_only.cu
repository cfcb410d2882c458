// One block a row; a buffer of twice the block, in and out change places.
#define THREADS 128
__global__ void inclusiveScan(const float *x, float *y, int n) {
  __shared__ float temp[2 * THREADS];
  const float *row = x + (size_t)blockIdx.x * n;
  float *res = y + (size_t)blockIdx.x * n;
  int t = threadIdx.x;
  float base = 0.f;
  for (int first = 0; first < n; first += THREADS) {
    int pout = 0, pin = 1;
    temp[t] = first + t < n ? row[first + t] : 0.f;
    __syncthreads();
    for (int off = 1; off < THREADS; off <<= 1) {
      pout = 1 - pout; pin = 1 - pout;
      if (t >= off) temp[pout * THREADS + t] = temp[pin * THREADS + t] + temp[pin * THREADS + t - off];
      else temp[pout * THREADS + t] = temp[pin * THREADS + t];
      __syncthreads();
    }
    if (first + t < n) { res[first + t] = base + temp[pout * THREADS + t]; }
    base = temp[pout * THREADS + THREADS - 1];
    __syncthreads();
  }
}
