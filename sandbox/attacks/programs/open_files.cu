// Opens files, pipes and sockets without end, so that the machine may run out of them.
//
// After it: their number was limited, for every process.
#include "attack.h"
#include <sys/resource.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    const rlimit wanted{1 << 20, 1 << 20};
    attack::tried(setrlimit(RLIMIT_NOFILE, &wanted) == 0, "raise the limit on open files to a million");
    int opened = 0;
    while (opened < 100000 && open("/dev/null", O_RDONLY) >= 0) ++opened;
    attack::tried(opened >= 10000, "open thousands of files");
    for (int file = 3; file < 100; ++file) close(file);
    return !attack::write_result();
}
