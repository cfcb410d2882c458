// Calls itself until its stack is full, after it has asked for a stack without limit.
//
// After it: it ended by a signal or by the limit on memory, as the student's fault.
#include "attack.h"
#include <sys/resource.h>

static int deeper(volatile char* above) {
    volatile char frame[4096];
    frame[0] = char(above[0] + 1);
    return deeper(frame) + frame[0];
}

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    const rlimit wanted{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_STACK, &wanted);
    volatile char first = 0;
    return deeper(&first);
}
