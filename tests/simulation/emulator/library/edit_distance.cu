// The edit distance of two strings, diagonal by diagonal: a pair of strings a block, a thread a character.
#define MOST 64
__global__ void kernel(const char* left, const char* right, const int* lengths, int* distances) {
    __shared__ int diagonal[3][MOST + 1];
    const char *a = left + blockIdx.x * MOST, *b = right + blockIdx.x * MOST;
    int m = lengths[2 * blockIdx.x], n = lengths[2 * blockIdx.x + 1], i = threadIdx.x;
    for (int d = 0; d <= m + n; ++d) {
        int j = d - i;
        if (i <= m && j >= 0 && j <= n) {
            int best;
            if (i == 0 || j == 0) {
                best = d;
            } else {
                int across = diagonal[(d + 1) % 3][i - 1] + (a[i - 1] != b[j - 1]);
                int step = 1 + min(diagonal[(d + 2) % 3][i - 1], diagonal[(d + 2) % 3][i]);
                best = min(across, step);
            }
            diagonal[d % 3][i] = best;
            if (i == m && j == n) distances[blockIdx.x] = best;
        }
        __syncthreads();
    }
}
