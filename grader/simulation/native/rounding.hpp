// Results rounded once, in any direction, as `instructions/rounding.py` has them (PTX ISA 9.7.3, `.rnd`).
#pragma once

#include "numbers.hpp"

enum class Mode { RZ, RM, RP };  // towards zero, down, up

// A sum in double rounded to odd: an inexact one whose last bit is even steps to its odd neighbour.
inline f64 to_odd(f64 total, f64 error) {
    u64 bits = __builtin_bit_cast(u64, total);
    if (error != 0 && std::isfinite(error) && !(bits & 1)) bits += (error > 0) == (total > 0) ? 1 : -1;
    return __builtin_bit_cast(f64, bits);
}

// a + b, rounded to odd; the error is Knuth's.
inline f64 odd_sum(f64 a, f64 b) {
    const f64 total = a + b, virtual_b = total - a;
    return to_odd(total, (a - (total - virtual_b)) + (b - virtual_b));
}

// The error of a product in double (Dekker, Veltkamp).
inline f64 error_of_product(f64 a, f64 b, f64 product) {
    const f64 factor = 134217729, split_a = factor * a, split_b = factor * b;
    const f64 high_a = split_a - (split_a - a), high_b = split_b - (split_b - b);
    const f64 low_a = a - high_a, low_b = b - high_b;
    return low_a * low_b - (((product - high_a * high_b) - low_a * high_b) - high_a * low_b);
}

// A number of 64 bits as a double rounded to odd.
template <typename T>
inline f64 odd_of(T x) {
    return odd_sum(f64(x >> 32) * 4294967296.0, f64(u64(x) & 0xFFFFFFFF));
}

// A double, exact or rounded to odd, as a float.
template <Mode mode>
inline f32 narrowed(f64 value) {
    const f32 near = f32(value);
    const f64 back = near;
    if (back > value && (mode == Mode::RM || (mode == Mode::RZ && near > 0)))
        return std::nextafter(near, -std::numeric_limits<f32>::infinity());
    if (back < value && (mode == Mode::RP || (mode == Mode::RZ && near < 0)))
        return std::nextafter(near, std::numeric_limits<f32>::infinity());
    return near;
}

// Down is the mirror image of up, also for the sign of a zero.
template <Mode mode>
inline f32 sum_of(f32 a, f32 b) {
    if constexpr (mode == Mode::RM) return -sum_of<Mode::RP>(-a, -b);
    return narrowed<mode>(odd_sum(f64(a), f64(b)));
}

template <Mode mode>
inline f32 fused_of(f32 a, f32 b, f32 c) {
    if constexpr (mode == Mode::RM) return -fused_of<Mode::RP>(-a, b, -c);
    return narrowed<mode>(odd_sum(f64(a) * f64(b), f64(c)));
}

template <Mode mode>
inline f32 quotient_of(f32 a, f32 b) {
    const f64 x = a, y = b, high = x / y, product = high * y;
    const f64 sign = y > 0 ? 1.0 : y < 0 ? -1.0 : y;
    return narrowed<mode>(to_odd(high, ((x - product) - error_of_product(high, y, product)) * sign));
}

template <Mode mode>
inline f32 root_of(f32 a) {
    const f64 x = a, high = __builtin_sqrt(x), product = high * high;
    return narrowed<mode>(to_odd(high, (x - product) - error_of_product(high, high, product)));
}
