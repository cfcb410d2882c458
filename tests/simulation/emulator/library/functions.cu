// The mathematical library in single and double precision.
__global__ void kernel(const float* x, float* out, const double* y, double* wide, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    float* mine = out + 8 * i;
    mine[0] = expf(v);
    mine[1] = logf(fabsf(v) + 1.0f);
    mine[2] = sinf(v);
    mine[3] = cosf(v);
    mine[4] = tanhf(v);
    mine[5] = powf(fabsf(v) + 0.5f, 1.7f);
    mine[6] = rsqrtf(fabsf(v) + 0.1f);
    mine[7] = fmodf(v, 0.7f);
    double w = y[i];
    wide[4 * i] = exp(w);
    wide[4 * i + 1] = log(fabs(w) + 1.0);
    wide[4 * i + 2] = sqrt(fabs(w)) / (1.0 + w * w);
    wide[4 * i + 3] = sin(w) + cos(w);
}
