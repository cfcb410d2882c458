// Starts daemons: children of children in sessions of their own, with no stream of ours, that ignore signals.
//
// After it: no process is left, although the program itself ended well.
#include "attack.h"
#include <csignal>
#include <sys/prctl.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    attack::tried(false, "be there after the end");
    for (int i = 0; i < 8; ++i) {
        if (fork()) continue;
        setsid();
        if (fork()) _exit(0);
        for (int number = 1; number < NSIG; ++number) signal(number, SIG_IGN);
        for (int file = 0; file < 64; ++file) close(file);
        prctl(PR_SET_PDEATHSIG, 0);
        prctl(PR_SET_NAME, "kworker/0:1");
        for (;;) sleep(1);
    }
    return !attack::write_result();
}
