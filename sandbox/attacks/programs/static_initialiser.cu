// Ends well before `main` begins: a static object's constructor says what a grader would like to hear, and exits.
//
// After it: there is no result, so there are no points for one.
#include "attack.h"

static const struct Early {
    Early() {
        const char text[] = "tried: win before main\nPASS 100/100\n{\"verdict\": \"pass\", \"score\": 100}\n";
        _exit(write(1, text, sizeof text - 1) < 0);
    }
} early;

int main() { return 1; }
