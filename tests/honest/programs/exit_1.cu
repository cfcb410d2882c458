// honest: ends with status 1, by return of EXIT_FAILURE
#include <cstdio>
#include <cstdlib>
int main() {
    std::puts("ending");
    return EXIT_FAILURE;
}
