// Hands in an array whose header says that it has 10^18 elements: who believes it runs out of memory.
//
// After it: the header was checked against the length of the file. No result, and no memory taken.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    puts("tried: claim 10^18 elements");
    const char* header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000000000), }";
    return !attack::write_file("C.npy", attack::npy(header, std::string(34 * 34 * 4, '\0')));
}
