// Stops (SIGSTOP) whoever started it and everybody else, so that nobody counts the seconds or collects results.
//
// After it: the run was ended from outside. It is the student's fault, and nobody else waited for it.
#include "attack.h"
#include <csignal>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    printf("tried: stop everybody\n");
    for (int process : attack::other_processes())
        if (attack::is_bait(process)) return attack::tried(true, "see a process of this machine");
    for (int process : attack::other_processes()) kill(process, SIGSTOP);
    for (;;) pause();
}
