// Takes pinned memory of the host, which no limit on address space counts and which can never be swapped out.
//
// After it: it counted like other memory, was limited, and is free again.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    const size_t piece = 64 << 20;
    size_t taken = 0;
    for (void* memory; taken < size_t(16) << 30 && cudaMallocHost(&memory, piece) == cudaSuccess; taken += piece)
        memset(memory, 1, piece);
    attack::tried(taken >= size_t(16) << 30, "pin 16 GiB of memory");
    return 0;
}
