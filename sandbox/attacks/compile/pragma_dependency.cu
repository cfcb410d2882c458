// Uses pragmas that read or poison: a dependency on a file, a system header, another assembler's options.
//
// After it: nothing of the file came back, and what the pragmas did ended with this compilation.
#pragma GCC dependency "/canary/file"
#pragma GCC dependency "/canary/neighbour"
#pragma GCC system_header
#pragma GCC poison printf
#pragma comment(lib, "/canary/file")
#pragma comment(linker, "/include:main")
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    printf("tried: pragmas\n");
    return !attack::write_result();
}
