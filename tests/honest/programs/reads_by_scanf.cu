// honest: a matrix by scanf
#include <cstdio>
int main() {
    int rows, columns;
    if (std::scanf("%d%d", &rows, &columns) != 2) return 1;
    for (int row = 0; row < rows; ++row) {
        double sum = 0, value;
        for (int column = 0; column < columns && std::scanf("%lf", &value) == 1; ++column) sum += value;
        std::printf("%g\n", sum);
    }
}
