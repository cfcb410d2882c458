// Computes for ever, having asked that no signal end it.
//
// After it: it was killed after the seconds that the assignment allows, and that is the student's fault.
#include "attack.h"
#include <csignal>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    attack::write_result();
    for (int number = 1; number < NSIG; ++number) signal(number, SIG_IGN);
    for (volatile long turn = 0;; turn = turn + 1) {
    }
}
