// Hands in a file of 10 GB that takes no place: a hole from its beginning to its end.
//
// After it: it could not be made, or was not read; the grader's memory is what it was.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    const int file = open("C.npy", O_RDWR | O_CREAT, 0644);
    const bool made = ftruncate(file, 10l << 30) == 0;
    printf("tried: make a file of 10 GB: %s\n", made ? "done" : strerror(errno));
    return 0;
}
