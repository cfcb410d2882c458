// The nearest of K centres for each point, and sums and counts per centre: shared float atomics, then global ones.
#define K 5
struct Sum {
    float x, y;
    unsigned count;
};

__global__ void kernel(const float2* points, const float2* centres, int* nearest, Sum* sums, int n) {
    __shared__ Sum mine[K];
    if (threadIdx.x < K) mine[threadIdx.x] = Sum{0, 0, 0};
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float2 p = points[i];
        int best = 0;
        float least = 3.4e38f;
        for (int k = 0; k < K; ++k) {
            float dx = p.x - centres[k].x, dy = p.y - centres[k].y, distance = dx * dx + dy * dy;
            if (distance < least) {
                least = distance;
                best = k;
            }
        }
        nearest[i] = best;
        atomicAdd(&mine[best].x, p.x);
        atomicAdd(&mine[best].y, p.y);
        atomicInc(&mine[best].count, 0xffffffffu);
    }
    __syncthreads();
    if (threadIdx.x < K) {
        atomicAdd(&sums[threadIdx.x].x, mine[threadIdx.x].x);
        atomicAdd(&sums[threadIdx.x].y, mine[threadIdx.x].y);
        atomicAdd(&sums[threadIdx.x].count, mine[threadIdx.x].count);
    }
}
