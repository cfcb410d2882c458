// The neighbour: an honest solution, graded before, between and after the attacks. Its grade never changes.
#include "attack.h"

int main() {
    std::vector<float> a(34 * 34, 1.0f), b(34 * 34, 2.0f), c(34 * 34);
    for (int row = 0; row < 34; ++row)
        for (int col = 0; col < 34; ++col)
            for (int k = 0; k < 34; ++k) c[row * 34 + col] += a[row * 34 + k] * b[k * 34 + col];
    const std::string numbers(reinterpret_cast<const char*>(c.data()), c.size() * sizeof(float));
    const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (34, 34), }";
    if (!attack::write_file("C.npy", attack::npy(header, numbers))) return 1;
    puts("product written");
}
