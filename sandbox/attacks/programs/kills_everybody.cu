// Sends SIGKILL to whoever started it, to the first process, and to every process that it may.
//
// After it: the grader lives, and the failed run is the student's fault. It can only kill what is in the sandbox.
#include "attack.h"
#include <csignal>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    printf("tried: kill everybody\n");
    for (int process : attack::other_processes())
        if (attack::is_bait(process)) return attack::tried(true, "see a process of this machine");
    const int parent = getppid();
    if (fork() == 0) {
        kill(1, SIGKILL);
        kill(-1, SIGKILL);
        kill(parent, SIGKILL);
        for (int process = 2; process < 1000; ++process)
            if (process != getpid()) kill(process, SIGKILL);
        _exit(0);
    }
    sleep(1);
    return 0;
}
