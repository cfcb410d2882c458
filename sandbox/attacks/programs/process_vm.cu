// Reads and writes the memory of other processes by process_vm_readv and process_vm_writev.
//
// After it: no process of this machine was reached, and the grade is that of a program without a result.
#include "attack.h"
#include <sys/uio.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    for (int process : attack::other_processes()) {
        unsigned long from = 0;
        const std::string maps = attack::content("/proc/" + std::to_string(process) + "/maps");
        sscanf(maps.c_str(), "%lx-", &from);
        char bytes[64];
        const iovec here{bytes, sizeof bytes}, there{reinterpret_cast<void*>(from), sizeof bytes};
        const bool got = process_vm_readv(process, &here, 1, &there, 1, 0) > 0;
        printf("tried: read the memory of %d: %s\n", process, got ? "done" : strerror(errno));
        if (got && attack::is_bait(process)) attack::tried(true, "read the memory of a process of this machine");
    }
    attack::tried(false, "read more");
    return 0;
}
