// Four by four elements each, all tiles moved and read as vectors of four.

extern "C" __global__ void matmul_vector_4x4(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float4 a[64][5];
    __shared__ float4 b[16][16];
    int ty = threadIdx.y, tx = threadIdx.x, thread = ty * 16 + tx;
    int top = blockIdx.y * 64, left = blockIdx.x * 64;
    float4 sum[4] = {};
    for (int start = 0; start < K; start += 16) {
        a[thread / 4][thread % 4] = *(const float4*)(A + (top + thread / 4) * K + start + thread % 4 * 4);
        b[ty][tx] = *(const float4*)(B + (start + ty) * N + left + tx * 4);
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            float4 y = b[k][tx];
            for (int i = 0; i < 4; ++i) {
                float x = ((const float*)a[ty * 4 + i])[k];
                sum[i].x += x * y.x;
                sum[i].y += x * y.y;
                sum[i].z += x * y.z;
                sum[i].w += x * y.w;
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) *(float4*)(C + (top + ty * 4 + i) * N + left + tx * 4) = sum[i];
}
