// style: number of tiles by ceilf and 1.0f * K
#define TILE 16
__global__ void tiledMatMul(float*A,float*B,float*C,int M,int K,int N){
__shared__ float a[TILE][TILE];__shared__ float b[TILE][TILE];
int i=blockIdx.y*TILE+threadIdx.y,j=blockIdx.x*TILE+threadIdx.x;float s=0;
for(int t=0;t<ceilf(1.0f*K/TILE);t++){
int p=t*TILE+threadIdx.x,q=t*TILE+threadIdx.y;
a[threadIdx.y][threadIdx.x]=i<M&&p<K?A[i*K+p]:0;b[threadIdx.y][threadIdx.x]=q<K&&j<N?B[q*N+j]:0;
__syncthreads();for(int k=0;k<TILE;k++)s+=a[threadIdx.y][k]*b[k][threadIdx.x];__syncthreads();}
if(i<M&&j<N)C[i*N+j]=s;}
