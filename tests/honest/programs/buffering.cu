// honest: buffers of its own size, flushed by hand
#include <cstdio>
#include <unistd.h>
int main() {
    static char room[1 << 16];
    std::setvbuf(stdout, room, _IOFBF, sizeof room);
    std::fputs("one ", stdout);
    std::fflush(stdout);
    if (write(1, "two ", 4) != 4) return 1;
    std::setvbuf(stderr, nullptr, _IOLBF, 100);
    std::fputs("three\n", stdout);
}
