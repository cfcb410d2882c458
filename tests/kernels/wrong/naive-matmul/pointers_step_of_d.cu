// One thread, one element; everything through pointers.
__global__ void naiveMatMul(const float *left, const float *right, float *out, int h, int d, int w) {
  unsigned int col = blockDim.x * blockIdx.x + threadIdx.x, row = blockDim.y * blockIdx.y + threadIdx.y;
  if (row < h && col < w) {
    const float *p = left + row * d;
    const float *q = right + col;
    float dot = 0.0f;
    for (int i = 0; i < d; ++i, q += d) dot += p[i] * *q;
    *(out + row * w + col) = dot;
  }
}
