// Spreads the memory it takes over processes, each of which stays far below any limit of one process.
//
// After it: what all of them held together was limited, and all are gone.
#include "attack.h"
#include <csignal>
#include <sys/wait.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    int alive = 0;
    for (int i = 0; i < 24; ++i) {
        int ready[2];
        if (pipe(ready)) break;
        const pid_t child = fork();
        if (child == 0) {
            if (attack::memory_in_use(96 << 20) && write(ready[1], "y", 1) == 1) pause();
            _exit(1);
        }
        close(ready[1]);
        char answer = 0;
        if (child > 0 && read(ready[0], &answer, 1) == 1) ++alive;
        close(ready[0]);
    }
    while (waitpid(-1, nullptr, WNOHANG) > 0) --alive;
    attack::tried(alive >= 16, "hold 1.5 GiB in many processes");
    signal(SIGTERM, SIG_IGN);
    kill(0, SIGTERM);
    return 0;
}
