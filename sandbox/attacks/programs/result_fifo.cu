// Hands in a pipe with a name: who opens it to read waits for ever.
//
// After it: nobody waited, and there is no result.
#include "attack.h"
#include <sys/stat.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    attack::tried(false, "keep the reader waiting");
    return mkfifo("C.npy", 0666) != 0;
}
