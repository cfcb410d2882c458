// honest: fifty thousand calls deep
#include <cstdio>
__attribute__((noinline)) static long depth(long n) {
    volatile char room[64] = {};
    return n == 0 ? room[0] : depth(n - 1) + 1;
}
int main() { std::printf("%ld\n", depth(50000)); }
