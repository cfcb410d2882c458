// Half precision: numbers of 16 bits, single and packed in pairs, as `instructions/half.py` has them (PTX ISA 9.7.4).
#pragma once

#include "rounding.hpp"

// A half as a float; a NaN keeps its payload.
inline f32 single_of_half(u32 bits) {
    const u32 size = bits & 0x7FFF, sign = (bits & 0x8000) << 16;
    const u32 number = __builtin_bit_cast(u32, __builtin_bit_cast(f32, size << 13) * 0x1p112f);
    return __builtin_bit_cast(f32, (size < 0x7C00 ? number : size << 13 | 0x7F800000) | sign);
}

// The format f16.
struct Half {
    static f64 number(u32 bits) { return single_of_half(bits); }

    // The nearest half of a double that is exact, or rounded to odd; every NaN is 0x7fff.
    static u32 bits(f64 value) {
        const u64 all = __builtin_bit_cast(u64, value), size = all & ~(u64(1) << 63);
        const u32 sign = u32(all >> 48) & 0x8000;
        const f64 magnitude = __builtin_bit_cast(f64, size);
        if (value != value) return 0x7FFF;
        if (magnitude >= 65520) return sign | 0x7C00;
        if (magnitude < 0x1p-14) return sign | u32(__builtin_bit_cast(u64, magnitude + 0x1p28) & 0x7FF);
        return sign | (u32((size + (u64(1) << 41) - 1 + (size >> 42 & 1)) >> 42) - (1008 << 10));
    }
};

// The format bf16: the upper half of a float.
struct Brain {
    static f64 number(u32 bits) { return __builtin_bit_cast(f32, bits << 16); }

    static u32 bits(f64 value) {
        if (value != value) return 0x7FFF;
        const f32 inwards = narrowed<Mode::RZ>(value);
        const u32 odd = __builtin_bit_cast(u32, inwards) | (f64(inwards) != value);
        return std::isinf(value) ? odd >> 16 : (odd + 0x7FFF + (odd >> 16 & 1)) >> 16;
    }
};

// A function of halves applied to both halves of words.
template <auto function, typename... Words>
inline u32 paired(Words... words) {
    return function((words & 0xFFFF)...) | function((words >> 16)...) << 16;
}

template <typename F>
inline u32 half_sum(u32 x, u32 y) { return F::bits(odd_sum(F::number(x), F::number(y))); }
template <typename F>
inline u32 half_difference(u32 x, u32 y) { return F::bits(odd_sum(F::number(x), -F::number(y))); }
template <typename F>
inline u32 half_product(u32 x, u32 y) { return F::bits(F::number(x) * F::number(y)); }
template <typename F>
inline u32 half_fused(u32 x, u32 y, u32 z) { return F::bits(odd_sum(F::number(x) * F::number(y), F::number(z))); }
template <typename F>
inline u32 half_negative(u32 x) { return F::bits(-F::number(x)); }
template <typename F>
inline u32 half_size(u32 x) { return F::bits(__builtin_fabs(F::number(x))); }
template <typename F>
inline u32 half_lesser(u32 x, u32 y) { return F::bits(lesser(F::number(x), F::number(y))); }
template <typename F>
inline u32 half_greater(u32 x, u32 y) { return F::bits(greater_of(F::number(x), F::number(y))); }
template <typename F>
inline u32 half_lesser_or_nan(u32 x, u32 y) { return F::bits(lesser_or_nan(F::number(x), F::number(y))); }
template <typename F>
inline u32 half_greater_or_nan(u32 x, u32 y) { return F::bits(greater_or_nan(F::number(x), F::number(y))); }
template <typename F>
inline u32 half_power(u32 x) { return F::bits(std::exp2(F::number(x))); }
template <typename F>
inline u32 half_tangent(u32 x) { return F::bits(std::tanh(F::number(x))); }

// `.sat`, `.relu` and `.ftz` of a result that was rounded already: the same as before.
template <typename F>
inline u32 half_saturated(u32 x) {
    const f64 number = F::number(x);
    return F::bits(number > 0 ? (number < 1 ? number : 1.0) : 0.0);
}
template <typename F>
inline u32 half_not_negative(u32 x) {
    const f64 number = F::number(x);
    return F::bits(number != number || number > 0 ? number : 0.0);
}
template <typename F>
inline u32 half_flushed(u32 x) {
    const f64 number = F::number(x);
    return F::bits(__builtin_fabs(number) < 0x1p-14 ? std::copysign(0.0, number) : number);
}
