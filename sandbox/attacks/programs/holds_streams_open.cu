// Ends at once, and leaves a child that keeps its streams open and goes on printing.
//
// After it: nobody waited for the child, no process is left, and what it printed later is not part of the result.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    attack::tried(false, "keep the grader waiting");
    if (fork() == 0) {
        setsid();
        for (;;) puts("still here"), sleep(1);
    }
    return !attack::write_result();
}
