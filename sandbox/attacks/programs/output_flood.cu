// Prints without end, on both streams.
//
// After it: the run was stopped, what was kept of its output is bounded, and so is the grader's memory.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    attack::write_result();
    const std::string piece(1 << 16, 'x');
    for (int stream = 1;; stream = 3 - stream)
        if (write(stream, piece.data(), piece.size()) < 0 && errno == EBADF) return 1;
}
