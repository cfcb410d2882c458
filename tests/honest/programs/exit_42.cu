// honest: ends with status 42, by return
#include <cstdio>
#include <cstdlib>
int main() {
    std::puts("ending");
    return 42;
}
