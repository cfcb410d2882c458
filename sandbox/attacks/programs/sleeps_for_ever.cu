// Waits for ever without using any time of a processor, in several processes and sessions.
//
// After it: it was killed after the seconds that the assignment allows, and so was all that it started.
#include "attack.h"
#include <csignal>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    for (int i = 0; i < 4; ++i)
        if (fork() == 0) setsid();
    signal(SIGTERM, SIG_IGN);
    for (;;) pause();
}
