// What is asked of the library before any of its functions is called.
#include "offered.hpp"

extern "C" {

// The digest of the sources that the library was made of.
OFFERED const char *core_digest() { return DIGEST; }

// True if the processor has what the library of `WIDE` in `sources.py` is compiled for (x86-64-v3).
OFFERED int core_can_be_wide() {
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("f16c");
#else
    return 0;
#endif
}
}
