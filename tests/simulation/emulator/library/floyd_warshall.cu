// All shortest paths of a small graph: one block, a barrier after every intermediate node.
#define N 24
__global__ void kernel(const int* weights, int* distances, short* through) {
    __shared__ int d[N][N];
    int j = threadIdx.x, i = threadIdx.y;
    d[i][j] = weights[i * N + j];
    int last = -1;
    __syncthreads();
    for (int k = 0; k < N; ++k) {
        int detour = d[i][k] + d[k][j];
        if (detour < d[i][j]) {
            d[i][j] = detour;
            last = k;
        }
        __syncthreads();
    }
    distances[i * N + j] = d[i][j];
    through[i * N + j] = last;
}
