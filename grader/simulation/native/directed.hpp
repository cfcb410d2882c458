// Results of float64 that are rounded once in a direction: by the processor, whose way to round is changed for one sum.
#pragma once

#include <cfenv>

#include "numbers.hpp"

// The functions of <cfenv> for a direction of `Mode` of `rounding.hpp`, or else to the nearest.
class RoundingWay {
  public:
    explicit RoundingWay(int way) : before(std::fegetround()) { std::fesetround(way); }
    ~RoundingWay() { std::fesetround(before); }
    RoundingWay(const RoundingWay &) = delete;
    RoundingWay &operator=(const RoundingWay &) = delete;

  private:
    int before;
};

// The compiler moves nothing that is volatile beyond the changes of the way.
[[gnu::noinline]] inline f64 sum_in(int way, f64 a, f64 b) {
    volatile f64 x = a, y = b, result;
    const RoundingWay rounding(way);
    result = x + y;
    return result;
}

[[gnu::noinline]] inline f64 product_in(int way, f64 a, f64 b) {
    volatile f64 x = a, y = b, result;
    const RoundingWay rounding(way);
    result = x * y;
    return result;
}

[[gnu::noinline]] inline f64 fused_in(int way, f64 a, f64 b, f64 c) {
    volatile f64 x = a, y = b, z = c, result;
    const RoundingWay rounding(way);
    result = __builtin_fma(x, y, z);
    return result;
}

// A whole number of up to 64 bits as float64.
template <typename T>
[[gnu::noinline]] inline f64 number_in(int way, T number) {
    volatile T x = number;
    volatile f64 result;
    const RoundingWay rounding(way);
    result = f64(x);
    return result;
}
