// honest: assembly of the host: a barrier for the compiler, the processor's clock and name
#include <cstdio>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif
int main() {
    int value = 41;
    asm volatile("" : "+r"(value)::"memory");
#if defined(__x86_64__)
    unsigned a, b, c, d;
    asm("addl $1, %0" : "+r"(value));
    const unsigned long long first = __rdtsc();
    value += __get_cpuid(0, &a, &b, &c, &d) && __rdtsc() >= first ? 0 : 100;
#else
    ++value;
#endif
    std::printf("%d\n", value);
}
