#include <cstdio>

int main() {
    std::puts("=== Tiled MatMul Simulation ===\nMatrix size: 4x4, Tile size: 2\nNumber of tile phases: 2\n");
    std::puts("Phase 1 (t=0): Load columns 0-1\nA_tile = [[1,2],[5,6]]\nB_tile = [[1,2],[5,6]]");
    std::puts("Partial sums computed for C[0..1][0..1]\n");
    std::puts("Phase 2 (t=1): Load columns 2-3\nA_tile = [[3,4],[7,8]]\nB_tile = [[9,10],[13,14]]");
    std::puts("Add to partial sums\n");
    std::puts("Final C[0][0] = 1*1+2*5 + 3*9+4*13 = 11 + 79 = 90");
    std::puts("Global reads (naive): 8 per element, 128 total");
    std::puts("Global reads (tiled): 4 per element, 64 total\nMemory savings: 2.00x");
}
