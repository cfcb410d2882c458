// honest: poll and select on the input, and what kind of thing it is
#include <cstdio>
#include <poll.h>
#include <sys/select.h>
#include <unistd.h>
int main() {
    pollfd waiting{0, POLLIN, 0};
    const int ready = poll(&waiting, 1, 2000);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(0, &set);
    timeval patience{2, 0};
    const int selected = select(1, &set, nullptr, nullptr, &patience);
    std::printf("%d %d %d %d\n", ready, selected, isatty(0), isatty(1));
}
