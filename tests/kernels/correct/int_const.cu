// style: tile size as int const, column index first, braces on their own lines
int const TILE_DIM = 16;

__global__
void tiledMatMul(float* a, float* b, float* c, int rows, int inner, int cols)
{
    int const x = threadIdx.x;
    int const y = threadIdx.y;
    int const j = x + TILE_DIM * blockIdx.x;
    int const i = y + TILE_DIM * blockIdx.y;

    __shared__ float sa[TILE_DIM][TILE_DIM], sb[TILE_DIM][TILE_DIM];

    float cij = 0.f;
    for (int k0 = 0; k0 < inner; k0 += TILE_DIM)
    {
        sa[y][x] = 0.f;
        sb[y][x] = 0.f;
        if (i < rows && k0 + x < inner)
        {
            sa[y][x] = a[i * inner + k0 + x];
        }
        if (k0 + y < inner && j < cols)
        {
            sb[y][x] = b[(k0 + y) * cols + j];
        }
        __syncthreads();
        for (int k = 0; k < TILE_DIM; ++k)
        {
            cij += sa[y][k] * sb[k][x];
        }
        __syncthreads();
    }
    if (i < rows && j < cols)
    {
        c[i * cols + j] = cij;
    }
}
