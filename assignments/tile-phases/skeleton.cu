// The phases of a tiled matrix product, on the host.
//
//   C = A * B; all three have N rows and N columns, and A and B hold 1, 2, 3 ... row by row.
//   Print what block (0, 0) does, phase by phase, as the assignment shows it.

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
    int N = argc > 1 ? std::atoi(argv[1]) : 4;
    int TILE = argc > 2 ? std::atoi(argv[2]) : 2;
    int phases = N / TILE;

    // TODO: fill A and B.

    // TODO: print the heading.

    for (int t = 0; t < phases; ++t) {
        // TODO: load tile t of A (to the right) and tile t of B (downwards), and print both.

        // TODO: add what this phase contributes to the sum of C[0][0].
    }

    // TODO: print C[0][0] with all its products, and how many global reads there are.
    return 0;
}
