// honest: ends with status 7, by quick_exit with its handlers
#include <cstdio>
#include <cstdlib>
int main() {
    std::puts("ending");
    std::at_quick_exit([] { std::puts("quickly"); std::fflush(stdout); });
    std::quick_exit(7);
}
