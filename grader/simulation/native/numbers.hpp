// Number types by their PTX names, and the functions that the table of pure instructions is written in.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;

// A predicate register holds 0 or 1 in a byte of each lane.
struct Pred {
    u8 value;
    Pred() = default;
    constexpr Pred(bool holds) : value(holds) {}
    constexpr Pred(int bit) : value(u8(bit)) {}
    constexpr operator int() const { return value; }
};

// Division that truncates; by zero it gives all ones, as devices do (PTX ISA 9.7.1.8).
template <typename T>
inline T quotient(T a, T b) {
    if (b == 0) return T(-1);
    if (b == -1) return T(0 - std::make_unsigned_t<T>(a));  // the most negative number stays itself
    return a / b;
}

template <typename T>
inline T remainder_of(T a, T b) {
    if (b == 0) return T(-1);
    return b == -1 ? 0 : a % b;
}

inline u32 reversed(u32 x) {
    x = __builtin_bswap32(x);
    x = (x >> 4 & 0x0F0F0F0F) | (x & 0x0F0F0F0F) << 4;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    return (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
}

// Four bytes picked out of y:x; bit 3 of a nibble of the selector spreads the sign (9.7.9.7).
inline u32 permuted(u32 x, u32 y, u32 selector) {
    u64 both = u64(y) << 32 | x;
    u32 result = 0;
    for (int digit = 0; digit < 4; ++digit) {
        u32 nibble = selector >> 4 * digit & 15;
        u32 byte = u32(both >> (nibble & 7) * 8) & 255;
        if (nibble & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * digit;
    }
    return result;
}

// A bit field of `length` bits from `start` on (9.7.1.19).
inline u32 field_u32(u32 x, u32 start, u32 length) {
    start &= 255, length &= 255;
    if (length == 0 || start >= 32) return 0;
    u32 shifted = x >> start;
    return length >= 32 ? shifted : shifted & ((1u << length) - 1);
}

inline u32 field_s32(s32 x, u32 start, u32 length) {
    start &= 255, length &= 255;
    if (length == 0) return 0;
    if (start >= 32) return u32(x >> 31);
    u32 top = start + length < 32 ? start + length : 32;
    return u32(s32(u32(x) << (32 - top)) >> (32 - (top - start)));
}

// Ones at `length` places from `start` on, for `bfi` (9.7.1.20).
template <typename T>
inline T mask_of_field(u32 start, u32 length) {
    constexpr u32 width = 8 * sizeof(T);
    start &= 255, length &= 255;
    if (start >= width) return 0;
    return (length >= width ? ~T(0) : (T(1) << length) - 1) << start;
}

// The highest bit that is not like the sign; all ones where there is none (9.7.1.16).
inline u32 highest_bit(u64 x) { return x ? 63 - u32(__builtin_clzll(x)) : ~u32(0); }

// The bits of y where z has ones, those of x elsewhere.
template <typename T>
inline T merged(T x, T y, T z) { return (x & ~z) | (y & z); }

// A function of two bits by its table of four, for `lop3` (9.7.8.6).
inline u32 of_two_bits(u32 x, u32 y, u32 table) {
    return ((0 - (table & 1)) & ~x & ~y) | ((0 - (table >> 1 & 1)) & ~x & y) | ((0 - (table >> 2 & 1)) & x & ~y) |
           ((0 - (table >> 3 & 1)) & x & y);
}

// z and the products of pieces of x and y: of bytes, or of halves and the bytes from `start` on (9.7.1.23 and 24).
template <typename A, typename B>
inline u32 dot_of_bytes(u32 x, u32 y, u32 z) {
    for (int shift = 0; shift < 32; shift += 8) z += u32(s32(A(x >> shift)) * s32(B(y >> shift)));
    return z;
}
template <typename A, typename B>
inline u32 dot_of_halves(u32 x, u32 y, u32 z) {
    for (int part = 0; part < 2; ++part) z += u32(s32(A(x >> 16 * part)) * s32(B(y >> 8 * part)));
    return z;
}

// The product of the low 24 bits of two numbers (9.7.1.5).
inline u64 product_of_24(u32 x, u32 y) { return u64(x & 0xFFFFFF) * (y & 0xFFFFFF); }
inline s64 product_of_24(s32 x, s32 y) { return s64(s32(u32(x) << 8) >> 8) * (s32(u32(y) << 8) >> 8); }

// The low `width` bits of a number, extended (9.7.1.21).
inline u32 low_bits_u32(u32 x, u32 width) { return width >= 32 ? x : x & ((u32(1) << width) - 1); }
inline u32 low_bits_s32(u32 x, u32 width) {
    if (width == 0 || width >= 32) return width ? x : 0;
    return u32(s32(x << (32 - width)) >> (32 - width));
}

inline u64 field_u64(u64 x, u32 start, u32 length) {
    start &= 255, length &= 255;
    if (length == 0 || start >= 64) return 0;
    const u64 shifted = x >> start;
    return length >= 64 ? shifted : shifted & ((u64(1) << length) - 1);
}

inline u64 field_s64(s64 x, u32 start, u32 length) {
    start &= 255, length &= 255;
    if (length == 0) return 0;
    if (start >= 64) return u64(x >> 63);
    const u32 top = start + length < 64 ? start + length : 64;
    return u64(s64(u64(x) << (64 - top)) >> (64 - (top - start)));
}

inline s64 limited(s64 x, s64 low, s64 high) { return x < low ? low : x > high ? high : x; }

// The smaller of two numbers; of a number and a NaN the number, of two zeros the negative one (9.7.3.11).
template <typename T>
inline T canonical_nan();
template <>
inline f32 canonical_nan<f32>() { return __builtin_bit_cast(f32, u32(0x7FFFFFFF)); }
template <>
inline f64 canonical_nan<f64>() { return __builtin_bit_cast(f64, u64(0x7FF8000000000000)); }

template <typename T>
inline T lesser(T x, T y) {
    if (x != x) return y != y ? canonical_nan<T>() : y;
    if (y != y) return x;
    if (x == 0 && y == 0) return std::signbit(x) ? x : y;
    return x < y ? x : y;
}

template <typename T>
inline T greater_of(T x, T y) {
    if (x != x) return y != y ? canonical_nan<T>() : y;
    if (y != y) return x;
    if (x == 0 && y == 0) return std::signbit(x) ? y : x;
    return x > y ? x : y;
}

// The same, but a NaN where either operand is one (`.NaN`).
template <typename T>
inline T lesser_or_nan(T x, T y) { return x != x || y != y ? canonical_nan<T>() : lesser(x, y); }
template <typename T>
inline T greater_or_nan(T x, T y) { return x != x || y != y ? canonical_nan<T>() : greater_of(x, y); }

// The value of a function as its type. Processors disagree on the sign of a NaN that no operand was: it is positive.
template <typename T>
inline T approximate(T x, f64 value) {
    return value != value && x == x ? T(__builtin_nan("")) : T(value);
}

// A NaN as a quiet one.
inline f32 quieted(f32 x) { return x == x ? x : __builtin_bit_cast(f32, __builtin_bit_cast(u32, x) | 0x400000); }

// A subnormal number as a zero of its sign (`.ftz`).
template <typename T> T flushed(T x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(T(0), x) : x; }

// A float as the nearest integer in range; a NaN as 0 (9.7.9.21).
template <typename T>
inline T clamped(f64 x) {
    constexpr f64 low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    if (x != x) return 0;
    if (x <= low) return std::numeric_limits<T>::min();
    if (x >= high) return std::numeric_limits<T>::max();
    return T(x);
}
