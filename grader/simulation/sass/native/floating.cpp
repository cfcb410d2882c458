// Instructions on float32 and float64: arithmetic, comparisons and functions.
#include <algorithm>

#include "directed.hpp"
#include "machine.hpp"
#include "rounding.hpp"

namespace sass {

namespace {

constexpr f64 LARGEST = 0x1p126, SMALLEST_NORMAL = 0x1p-126, RESIDUAL = 0x1p-100, TAU = 6.283185307179586;

const int WAYS[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

f32 saturated(f32 x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

template <Mode mode>
f32 single_in(u16 code, f32 a, f32 b, f32 c) {
    if (code == CODE_add_f32) return sum_of<mode>(a, b);
    if (code == CODE_multiply_f32) return narrowed<mode>(f64(a) * f64(b));
    return fused_of<mode>(a, b, c);
}

f32 nearest(u16 code, f32 a, f32 b, f32 c) {
    if (code == CODE_add_f32) return a + b;
    return code == CODE_multiply_f32 ? a * b : __builtin_fmaf(a, b, c);
}

f32 single(const Op &op, f32 a, f32 b, f32 c) {
    f32 result;
    switch (op.mode) {
        case RM: result = single_in<Mode::RM>(op.code, a, b, c); break;
        case RP: result = single_in<Mode::RP>(op.code, a, b, c); break;
        case RZ: result = single_in<Mode::RZ>(op.code, a, b, c); break;
        default: result = nearest(op.code, a, b, c);
    }
    return op.flags & SATURATES ? saturated(result) : result;
}

// MUFU works out these of float32; the results of devices are off by a bit or two.
f64 function_of(u8 name, f64 x) {
    switch (name) {
        case 0: return 1 / x;
        case 1: return 1 / std::sqrt(x);
        case 2: return std::sqrt(x);
        case 3: return std::exp2(x);
        case 4: return std::log2(x);
        case 5: return std::sin(TAU * x);
        case 6: return std::cos(TAU * x);
        default: return std::tanh(x);
    }
}

template <typename T>
bool holds(const Op &op, T x, T y) {
    const bool is_unordered = x != x || y != y;
    bool is_true = false;
    switch (op.mode) {
        case EQ: is_true = x == y; break;
        case NE: is_true = x != y; break;
        case LT: is_true = x < y; break;
        case LE: is_true = x <= y; break;
        case GT: is_true = x > y; break;
        case GE: is_true = x >= y; break;
        case NUMBERS: return !is_unordered;
        default: return is_unordered;
    }
    return is_unordered ? bool(op.flags & UNORDERED) : is_true;
}

// Whether a quotient is out of reach of the usual way, because it or a part of it is too far from 1.
bool needs_slow_division(f32 a, f32 b) {
    const f64 dividend = std::fabs(f64(a)), divisor = std::fabs(f64(b)), quotient = dividend / divisor;
    const bool is_sound = divisor > SMALLEST_NORMAL && divisor < LARGEST && dividend < LARGEST;
    const bool is_usual = dividend > RESIDUAL && quotient > SMALLEST_NORMAL && quotient < LARGEST;
    return !(is_sound && (is_usual || dividend == 0));
}

}  // namespace

template <typename F>
void Machine::compare_reals(const Op &op, F holds_of) {
    each_warp([&](u32 warp, u32 mask) {
        const u32 result = holds_of(warp), given = truth(op.truths[0], warp);
        decide(op.decided[0], warp, mask, joined(op.joins, result, given));
        decide(op.decided[1], warp, mask, joined(op.joins, ~result, given));
        if (op.code != CODE_set_f32) return;
        const u32 all = joined(op.joins, result, given), one = op.flags & AS_ONE ? 0x3F800000 : ALL;
        Words values;
        for (u32 lane = 0; lane < WARP; ++lane) values[lane] = all >> lane & 1 ? one : 0;
        write(op.to, warp, mask, values);
    });
}

void Machine::floating(const Op &op) {
    const auto of_singles = [&](u32 warp, auto test) {
        Words x, y;
        const u32 *a = word(0, warp, x), *b = word(1, warp, y);
        u32 result = 0;
        for (u32 lane = 0; lane < WARP; ++lane) result |= u32(test(as_real(a[lane]), as_real(b[lane]))) << lane;
        return result;
    };
    const bool is_plain = op.mode == RN && !(op.flags & SATURATES);
    switch (op.code) {
        case CODE_add_f32:
            if (is_plain) return of_reals(op, [](f32 a, f32 b, f32) { return a + b; });
            return of_reals(op, [&](f32 a, f32 b, f32 c) { return single(op, a, b, c); });
        case CODE_multiply_f32:
            if (is_plain) return of_reals(op, [](f32 a, f32 b, f32) { return a * b; });
            return of_reals(op, [&](f32 a, f32 b, f32 c) { return single(op, a, b, c); });
        case CODE_fma_f32:
            if (is_plain) return of_reals(op, [](f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); });
            return of_reals(op, [&](f32 a, f32 b, f32 c) { return single(op, a, b, c); });
        case CODE_add_f64:
            if (op.mode == RN) return of_doubles(op, [](f64 a, f64 b, f64) { return a + b; });
            return of_doubles(op, [&](f64 a, f64 b, f64) { return sum_in(WAYS[op.mode & 3], a, b); });
        case CODE_multiply_f64:
            if (op.mode == RN) return of_doubles(op, [](f64 a, f64 b, f64) { return a * b; });
            return of_doubles(op, [&](f64 a, f64 b, f64) { return product_in(WAYS[op.mode & 3], a, b); });
        case CODE_fma_f64:
            if (op.mode == RN) return of_doubles(op, [](f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); });
            return of_doubles(op, [&](f64 a, f64 b, f64 c) { return fused_in(WAYS[op.mode & 3], a, b, c); });
        case CODE_extreme_f32:
            return each_warp([&](u32 warp, u32 mask) {
                Words x, y, result;
                const u32 *a = word(0, warp, x), *b = word(1, warp, y), smaller = truth(op.truths[0], warp);
                const bool nan_wins = op.flags & NAN_WINS;
                for (u32 lane = 0; lane < WARP; ++lane) {
                    const f32 p = as_real(a[lane]), q = as_real(b[lane]);
                    result[lane] = bits_of(smaller >> lane & 1 ? nan_wins ? lesser_or_nan(p, q) : lesser(p, q)
                                           : nan_wins          ? greater_or_nan(p, q)
                                                               : greater_of(p, q));
                }
                write(op.to, warp, mask, result);
            });
        case CODE_compare_f32:
        case CODE_set_f32:
            return compare_reals(op, [&](u32 warp) {
                return of_singles(warp, [&](f32 a, f32 b) { return holds(op, a, b); });
            });
        case CODE_compare_f64:
            return compare_reals(op, [&](u32 warp) {
                Pairs a, b;
                pair(0, warp, a), pair(1, warp, b);
                u32 result = 0;
                for (u32 lane = 0; lane < WARP; ++lane)
                    result |= u32(holds(op, as_double(a[lane]), as_double(b[lane]))) << lane;
                return result;
            });
        case CODE_extreme_f64: return extreme_f64(op);
        case CODE_slow_division:
            return each_warp([&](u32 warp, u32 mask) {
                decide(op.decided[0], warp, mask, of_singles(warp, needs_slow_division));
            });
        default: return function(op);
    }
}

// Whether the first operand is the smaller or the larger one, and whether neither is a number.
void Machine::extreme_f64(const Op &op) {
    const bool is_smallest = op.flags & SMALLEST;
    each_warp([&](u32 warp, u32 mask) {
        Pairs a, b;
        pair(0, warp, a), pair(1, warp, b);
        u32 first = 0, neither = 0;
        for (u32 lane = 0; lane < WARP; ++lane) {
            const f64 x = as_double(a[lane]), y = as_double(b[lane]);
            const bool before = is_smallest ? x < y : x > y;
            const bool zero_first = x == y && std::signbit(x) == is_smallest;
            first |= u32(before || zero_first || y != y) << lane;
            neither |= u32(x != x && y != y) << lane;
        }
        decide(op.decided[0], warp, mask, first);
        decide(op.decided[1], warp, mask, neither);
    });
}

// MUFU: functions of float32, and the upper halves of functions of float64.
void Machine::function(const Op &op) {
    if (op.code == CODE_function_f32)
        return each_warp([&](u32 warp, u32 mask) {
            Words x, result = {};
            const u32 *a = word(0, warp, x);
            each(op.to >= UNIFORM ? ALL : mask, [&](u32 lane) {
                const f32 number = as_real(a[lane]);
                result[lane] = bits_of(approximate(number, function_of(op.mode, number)));
            });
            write(op.to, warp, mask, result);
        });
    return of_words(op, [&](u32 a, u32, u32) {
        return u32(bits_of(function_of(op.mode, as_double(u64(a) << 32))) >> 32);
    });
}

}  // namespace sass
