// A thread bomb: starts threads that never end, as many as it can get.
//
// After it: no thread is left, and the neighbours were graded as ever. Threads count as processes do.
#include "attack.h"
#include <pthread.h>

static void* wait_for_ever(void*) {
    for (;;) pause();
}

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    int made = 0, error = 0;
    for (pthread_t thread; made < 20000; ++made)
        if ((error = pthread_create(&thread, &small, wait_for_ever, nullptr))) break;
    errno = error;
    attack::tried(made >= 5000, "start thousands of threads");
}
