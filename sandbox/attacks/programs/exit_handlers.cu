// Fails in `main`, and has its exit status turned to 0 by a handler that runs at the end; destructors add verdicts.
//
// After it: status 0 may be earned so, a result may not.
#include "attack.h"

static void says_zero() {
    const char text[] = "tried: end well after all\n{\"verdict\": \"pass\"}\n";
    _exit(write(1, text, sizeof text - 1) < 0);
}

__attribute__((destructor)) static void last_word() { _exit(0); }

int main() {
    atexit(says_zero);
    exit(1);
}
