// Hands in the beginning of a zip archive: NumPy takes such a file for several arrays, and unpacks them.
//
// After it: nothing was unpacked, and there is no result.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    puts("tried: have an archive unpacked");
    const std::string archive("PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0\0\0\0\0\xff\xff\xff\x7f\xff\xff\xff\x7f\x05\0\0\0C.npy", 35);
    return !attack::write_file("C.npy", archive + std::string(4096, '\xff'));
}
