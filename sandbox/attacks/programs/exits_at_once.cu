// Does nothing, and ends well.
//
// After it: no points but those for compiling and for ending well.
#include "attack.h"

int main() {
    if (write(1, "tried: nothing\n", 15) < 0) return 1;
    _exit(0);
}
