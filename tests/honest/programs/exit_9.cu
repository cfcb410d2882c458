// honest: ends with status 9, by _Exit, which flushes nothing
#include <cstdio>
#include <cstdlib>
int main() {
    std::puts("ending");
    std::fflush(stdout);
    std::_Exit(9);
}
