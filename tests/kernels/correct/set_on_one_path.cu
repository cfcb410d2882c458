// style: a register that is set on one path only, and used on that path only
#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    int tx=threadIdx.x, ty=threadIdx.y;
    int row = blockIdx.y*TILE_SIZE+ty, col = blockIdx.x*TILE_SIZE+tx;
    
    float acc = 0.0f;
    for (int t=0;t<(K+TILE_SIZE-1)/TILE_SIZE;++t) {
        float a_; bool ok = row<M && t*TILE_SIZE+tx<K; if (ok) a_ = A[row*K+t*TILE_SIZE+tx]; As[ty][tx] = ok ? a_ : 0.0f;
        Bs[ty][tx] = (col<N && t*TILE_SIZE+ty<K) ? B[(t*TILE_SIZE+ty)*N+col] : 0.0f;
        __syncthreads();
        for (int k=0;k<TILE_SIZE;++k) acc += As[ty][k]*Bs[k][tx];
        
        __syncthreads();
    }
    if (row<M && col<N) C[row*N+col]=acc;
}

