// honest: a local array of 6 MiB
#include <cstdio>
int main() {
    volatile int table[6 * 1024 * 256];
    for (unsigned i = 0; i < sizeof table / sizeof *table; ++i) table[i] = static_cast<int>(i);
    long long sum = 0;
    for (unsigned i = 0; i < sizeof table / sizeof *table; i += 4096) sum += table[i];
    std::printf("%lld\n", sum);
}
