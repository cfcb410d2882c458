// honest: ends with status 255, by return of -1
#include <cstdio>
#include <cstdlib>
int main() {
    std::puts("ending");
    return -1;
}
