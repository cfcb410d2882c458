// Takes memory that is no process's: files that live in memory only, and System V segments.
//
// After it: they counted like any other memory, and went with the run.
#include "attack.h"
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    const std::vector<char> piece(16 << 20, 1);
    size_t written = 0;
    for (int i = 0; i < 64; ++i) {
        const int file = memfd_create("attack", 0);
        if (file < 0 || write(file, piece.data(), piece.size()) != ssize_t(piece.size())) break;
        written += piece.size();
    }
    attack::tried(written >= size_t(1) << 30, "keep 1 GiB in files in memory");
    size_t kept = 0;
    for (int i = 0; i < 64; ++i) {
        const int segment = shmget(0x6ad0 + i, piece.size(), IPC_CREAT | 0600);
        void* at = segment < 0 ? reinterpret_cast<void*>(-1) : shmat(segment, nullptr, 0);
        if (at == reinterpret_cast<void*>(-1)) break;
        memset(at, 1, piece.size());
        kept += piece.size();
    }
    attack::tried(kept >= size_t(1) << 30, "keep 1 GiB in System V segments");
}
