// Hands in NaN for every element: a comparison the wrong way round finds nothing wrong with it.
//
// After it: every element is wrong.
#include "attack.h"
#include <cmath>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    puts("tried: pass by NaN");
    const std::vector<float> product(34 * 34, std::nanf(""));
    const std::string numbers(reinterpret_cast<const char*>(product.data()), product.size() * sizeof(float));
    return !attack::write_file("C.npy", attack::npy("{'descr': '<f4', 'fortran_order': False, 'shape': (34, 34), }", numbers));
}
