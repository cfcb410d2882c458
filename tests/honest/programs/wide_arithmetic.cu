// honest: 128-bit integers, long doubles, rounding modes, bits
#include <cfenv>
#include <cmath>
#include <cstdio>
#include <limits>
int main() {
    const unsigned __int128 product = static_cast<unsigned __int128>(~0ull) * ~0ull;
    std::fesetround(FE_UPWARD);
    volatile double one = 1, three = 3;
    volatile double up = one / three;
    std::fesetround(FE_TONEAREST);
    std::printf("%llx %d %.0Lf %d %d\n", static_cast<unsigned long long>(product >> 64), up > one / three, std::pow(2.0L, 70),
                __builtin_popcountll(0xff), std::isnan(std::numeric_limits<double>::quiet_NaN()));
}
