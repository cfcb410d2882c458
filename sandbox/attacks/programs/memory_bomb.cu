// Takes memory and touches every page of it until it is stopped.
//
// After it: it ended by the limit on memory, as the student's fault, and nobody else was slowed down or killed.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    const size_t piece = 16 << 20;
    for (size_t taken = 0; taken < size_t(4) << 30; taken += piece)
        if (!attack::memory_in_use(piece)) return attack::tried(false, "take 4 GiB of memory");
    attack::tried(true, "take 4 GiB of memory");
}
