// Takes over other processes as a debugger does: whoever started it, and everything else that it sees.
//
// After it: no process of this machine was touched. Whatever it makes of the process that started it, inside the
// sandbox, gains nothing: all that comes out of there is read as if the program had said it.
#include "attack.h"
#include <sys/ptrace.h>
#include <sys/wait.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    attack::tried(false, "attach to processes");
    for (int process : attack::other_processes()) {
        const bool attached = ptrace(PTRACE_SEIZE, process, nullptr, nullptr) == 0;
        printf("tried: attach to %d: %s\n", process, attached ? "done" : strerror(errno));
        if (attached && attack::is_bait(process)) attack::tried(true, "attach to a process of this machine");
        if (attached) ptrace(PTRACE_INTERRUPT, process, nullptr, nullptr);
    }
    return 0;
}
