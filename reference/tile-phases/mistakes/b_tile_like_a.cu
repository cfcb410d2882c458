#include <cstdio>
#include <cstdlib>
#include <vector>

static void printTile(const char* name, const std::vector<int>& tile, int size) {
    std::printf("%s = [", name);
    for (int row = 0; row < size; ++row) {
        std::printf(row ? ",[" : "[");
        for (int col = 0; col < size; ++col) std::printf(col ? ",%d" : "%d", tile[row * size + col]);
        std::printf("]");
    }
    std::printf("]\n");
}

int main(int argc, char** argv) {
    int n = argc > 1 ? std::atoi(argv[1]) : 4;
    int size = argc > 2 ? std::atoi(argv[2]) : 2;
    int phases = n / size;

    std::vector<int> a(n * n), b(n * n);
    for (int i = 0; i < n * n; ++i) a[i] = b[i] = i + 1;

    std::printf("=== Tiled MatMul Simulation ===\n");
    std::printf("Matrix size: %dx%d, Tile size: %d\n", n, n, size);
    std::printf("Number of tile phases: %d\n", phases);

    std::vector<int> tileA(size * size), tileB(size * size), partial(phases, 0);
    long tiledReads = 0;
    for (int t = 0; t < phases; ++t) {
        int first = t * size;
        std::printf("\nPhase %d (t=%d): Load columns %d-%d\n", t + 1, t, first, first + size - 1);
        for (int ty = 0; ty < size; ++ty) {
            for (int tx = 0; tx < size; ++tx) {
                tileA[ty * size + tx] = a[ty * n + first + tx];
                tileB[ty * size + tx] = b[ty * n + first + tx];
                tiledReads += 2;
            }
        }
        printTile("A_tile", tileA, size);
        printTile("B_tile", tileB, size);
        if (t == 0)
            std::printf("Partial sums computed for C[0..%d][0..%d]\n", size - 1, size - 1);
        else
            std::printf("Add to partial sums\n");
        for (int k = 0; k < size; ++k) partial[t] += tileA[k] * tileB[k * size];
    }

    std::printf("\nFinal C[0][0] = ");
    int sum = 0;
    for (int k = 0; k < n; ++k) {
        if (k) std::printf(k % size ? "+" : " + ");
        std::printf("%d*%d", a[k], b[k * n]);
    }
    std::printf(" = ");
    for (int t = 0; t < phases; ++t) {
        sum += partial[t];
        std::printf(t ? " + %d" : "%d", partial[t]);
    }
    std::printf(" = %d\n", sum);

    long blocks = (long)phases * phases, elements = (long)n * n;
    long naive = 2L * n * elements, tiled = tiledReads * blocks;
    std::printf("Global reads (naive): %ld per element, %ld total\n", naive / elements, naive);
    std::printf("Global reads (tiled): %ld per element, %ld total\n", tiled / elements, tiled);
    std::printf("Memory savings: %.2fx\n", (double)naive / tiled);
    return 0;
}
