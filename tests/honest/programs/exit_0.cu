// honest: ends with status 0, by std::exit
#include <cstdio>
#include <cstdlib>
int main() {
    std::puts("ending");
    std::exit(EXIT_SUCCESS);
}
