// style: one thread loads the whole tile for its block
#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    int tx=threadIdx.x, ty=threadIdx.y;
    int row = blockIdx.y*TILE_SIZE+ty, col = blockIdx.x*TILE_SIZE+tx;
    
    float acc = 0.0f;
    for (int t=0;t<(K+TILE_SIZE-1)/TILE_SIZE;++t) {
        if (tx==0&&ty==0) for (int i=0;i<TILE_SIZE;++i) for (int j=0;j<TILE_SIZE;++j) {
          int r=blockIdx.y*TILE_SIZE+i, c=blockIdx.x*TILE_SIZE+j;
          As[i][j] = (r<M && t*TILE_SIZE+j<K) ? A[r*K+t*TILE_SIZE+j] : 0.0f;
          Bs[i][j] = (c<N && t*TILE_SIZE+i<K) ? B[(t*TILE_SIZE+i)*N+c] : 0.0f; }
        __syncthreads();
        for (int k=0;k<TILE_SIZE;++k) acc += As[ty][k]*Bs[k][tx];
        
        __syncthreads();
    }
    if (row<M && col<N) C[row*N+col]=acc;
}

