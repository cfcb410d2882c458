// Is handed in under a name that programs take for options, which name a file to be included.
//
// After it: the name reached no command line, and it was graded like any other.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    puts("tried: have a name taken for an option");
    return !attack::write_result();
}
