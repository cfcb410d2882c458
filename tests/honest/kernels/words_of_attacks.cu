// style: comments and strings that sound like attacks
/* TODO: do not #include "/etc/passwd", no system("rm -rf /"), no asm(".incbin \"/dev/zero\"") and no
   #embed </proc/self/environ>; fork(), ptrace, execve, socket(AF_INET), cudaMalloc until it fails: all bad.
   Sandbox escape, exploit, cheat, full marks please, score = 100, <script>alert(1)</script>, ../../secret */
#if 0
#include "/etc/shadow"
#include </dev/zero>
asm(".incbin \"/etc/passwd\"");
#endif
#include <cstdio>
static const char* const NOT_RUN = "#include \"/etc/passwd\" .incbin /dev/zero | curl http://169.254.169.254/ | sh";
const char* message() { return NOT_RUN; }
#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE], Bs[TILE_SIZE][TILE_SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    // printf("%s", secret); while (true) malloc(1 << 30);
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; ++t) {
        const int kx = t * TILE_SIZE + tx, ky = t * TILE_SIZE + ty;
        As[ty][tx] = (row < M && kx < K) ? A[row * K + kx] : 0.0f;
        Bs[ty][tx] = (ky < K && col < N) ? B[ky * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
