// Hands in a file that a child of it goes on writing to, while it is read.
//
// After it: what was read is bounded, and the child ended with the run.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    attack::tried(false, "write while the result is read");
    if (fork() == 0) {
        setsid();
        const int file = open("C.npy", O_WRONLY | O_CREAT, 0644);
        const std::string piece(1 << 16, '\xff');
        for (;;)
            if (write(file, piece.data(), piece.size()) < 0 && ftruncate(file, 0) < 0) break;
    }
    usleep(200000);
    return 0;
}
