// Hands in the right numbers in other types: half precision, records, texts; big-endian in the end.
//
// After it: the type is not the one that was asked for, so there are no points for it.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    puts("tried: hand in another type");
    for (const char* type : {"'<f2'", "'|S4'", "[('a', '<f4'), ('b', '|O')]", "'>f4'"}) {
        const std::string header = std::string("{'descr': ") + type + ", 'fortran_order': False, 'shape': (34, 34), }";
        if (!attack::write_file("C.npy", attack::npy(header, std::string(34 * 34 * 4, 'B')))) return 1;
    }
    return 0;
}
