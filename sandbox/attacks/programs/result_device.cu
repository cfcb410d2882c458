// Hands in a device: /dev/zero by a link, which never ends, or a device file of its own.
//
// After it: nothing was read from it.
#include "attack.h"
#include <sys/stat.h>
#include <sys/sysmacros.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    attack::tried(mknod("C.npy", S_IFCHR | 0666, makedev(1, 5)) == 0, "make a device that never ends");
    if (access("C.npy", F_OK)) return symlink("/dev/zero", "C.npy") != 0;
    return 0;
}
