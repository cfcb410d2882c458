// Instructions on two numbers of 16 bits in a word, float16 or bfloat16, and conversions of numbers.
#include "halves.hpp"

#include "directed.hpp"
#include "machine.hpp"

namespace sass {

namespace {

// How a half of a word is read: the register's, its lower or its upper half twice, or a float32 as both.
enum Half_of : u32 { BOTH, LOWER, UPPER, WHOLE };

f64 number_of(u32 bits, bool is_brain) { return is_brain ? Brain::number(bits) : Half::number(bits); }
u32 half_of(f64 number, bool is_brain) { return is_brain ? Brain::bits(number) : Half::bits(number); }

// The next half in a direction.
u32 next(u32 bits, bool up) {
    if ((bits & 0x7FFF) == 0) return up ? 1 : 0x8001;
    const bool is_positive = !(bits & 0x8000);
    return is_positive == up ? bits + 1 : bits - 1;
}

// A number, exact or rounded to odd, as a half that is rounded in a direction.
u32 half_in(u8 direction, f64 number, bool is_brain) {
    const u32 near = half_of(number, is_brain);
    const f64 back = number_of(near, is_brain);
    if (direction == RN || number != number) return near;
    const bool down = direction == RM || (direction == RZ && number > 0);
    const bool up = direction == RP || (direction == RZ && number < 0);
    if (back > number && down) return next(near, false);
    return back < number && up ? next(near, true) : near;
}

template <typename T>
bool holds(u8 comparison, T x, T y) {
    switch (comparison) {
        case EQ: return x == y;
        case NE: return x != y && x == x && y == y;
        case LT: return x < y;
        case LE: return x <= y;
        case GT: return x > y;
        case GE: return x >= y;
        case NUMBERS: return x == x && y == y;
        default: return x != x || y != y;
    }
}

f64 extreme_of(f64 x, f64 y, bool is_smallest, bool nan_wins) {
    if (nan_wins) return is_smallest ? lesser_or_nan(x, y) : greater_or_nan(x, y);
    return is_smallest ? lesser(x, y) : greater_of(x, y);
}

f64 result_of(const Op &op, f64 x, f64 y, f64 z) {
    f64 result = op.code == CODE_add_f16        ? odd_sum(x, y)
                 : op.code == CODE_multiply_f16 ? x * y
                                                : odd_sum(x * y, z);
    if (op.flags & SATURATES) result = result > 0 ? (result < 1 ? result : 1.0) : 0.0;
    if (op.flags & RECTIFIES && result <= 0) result = 0;
    return result;
}

// The number in one half (0: the lower) of a word; `how` has two bits for each operand.
f64 operand_of(const Op &op, u32 word, u32 half, u32 number) {
    const u32 how = op.immediate >> 2 * number & 3;
    if (how == WHOLE) return as_real(word);
    const bool is_upper = how == BOTH ? half : how == UPPER;
    const u32 bits = is_upper ? word >> 16 : word & 0xFFFF, signs = op.immediate >> (8 + 2 * number) & 3;
    f64 value = number_of(bits, op.flags & BRAIN);
    if (signs & 1) value = std::fabs(value);
    return signs & 2 ? -value : value;
}

// A whole number as a real one: 4 bytes, 8 bytes, or a half.
template <typename T>
f32 single_of(u8 direction, T x) {
    switch (direction) {
        case RM: return narrowed<Mode::RM>(odd_of(x));
        case RP: return narrowed<Mode::RP>(odd_of(x));
        case RZ: return narrowed<Mode::RZ>(odd_of(x));
        default: return f32(x);
    }
}

f32 single_of_double(u8 direction, f64 x) {
    switch (direction) {
        case RM: return narrowed<Mode::RM>(x);
        case RP: return narrowed<Mode::RP>(x);
        case RZ: return narrowed<Mode::RZ>(x);
        default: return f32(x);
    }
}

template <typename T>
f64 double_of(u8 direction, T x) {
    constexpr int ways[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    return direction == RN ? f64(x) : number_in(ways[direction & 3], x);
}

// A whole number to which a real one is rounded: down, up, towards zero, or to the nearest.
f64 whole_of(u8 how, f64 x) {
    switch (how) {
        case 1: return std::floor(x);
        case 2: return std::ceil(x);
        case 3: return std::trunc(x);
        default: return std::nearbyint(x);
    }
}

// The nearest integer of a type; `nothing` for what is no number.
template <typename Signed, typename Unsigned>
u64 limited_to(f64 whole, bool is_signed, u64 nothing) {
    if (whole != whole) return nothing;
    return is_signed ? u64(s64(clamped<Signed>(whole))) : u64(clamped<Unsigned>(whole));
}

}  // namespace

void Machine::halves(const Op &op) {
    const bool is_brain = op.flags & BRAIN;
    // What a function of the numbers in each half gives, as bits of a half; the lower half first.
    const auto of_halves = [&](auto function) {
        each_warp([&](u32 warp, u32 mask) {
            Words x, y, z, result;
            const u32 *a = word(0, warp, x), *b = word(1, warp, y), *c = word(2, warp, z);
            const u32 chosen = truth(op.truths[0], warp);
            for (u32 lane = 0; lane < WARP; ++lane) {
                u32 parts[2];
                for (u32 half = 0; half < 2; ++half)
                    parts[half] = function(operand_of(op, a[lane], half, 0), operand_of(op, b[lane], half, 1),
                                           operand_of(op, c[lane], half, 2), bool(chosen >> lane & 1));
                result[lane] = parts[0] | parts[1] << 16;
            }
            write(op.to, warp, mask, result);
        });
    };
    switch (op.code) {
        case CODE_extreme_f16:
            return of_halves([&](f64 x, f64 y, f64, bool is_smallest) {
                return half_of(extreme_of(x, y, is_smallest, op.flags & NAN_WINS), is_brain);
            });
        case CODE_set_f16: {
            const u32 one = !(op.flags & AS_ONE) ? 0xFFFF : is_brain ? 0x3F80 : 0x3C00;
            return of_halves([&, one](f64 x, f64 y, f64, bool given) {
                const bool is_true = holds(op.mode, x, y) || (op.flags & UNORDERED && (x != x || y != y));
                return joined(op.joins, is_true, given) ? one : 0;
            });
        }
        case CODE_compare_f16:
            return each_warp([&](u32 warp, u32 mask) {
                Words x, y;
                const u32 *a = word(0, warp, x), *b = word(1, warp, y), given = truth(op.truths[0], warp);
                u32 results[2] = {};
                for (u32 lane = 0; lane < WARP; ++lane)
                    for (u32 half = 0; half < 2; ++half) {
                        const f64 p = operand_of(op, a[lane], half, 0), q = operand_of(op, b[lane], half, 1);
                        const bool is_true = holds(op.mode, p, q) || (op.flags & UNORDERED && (p != p || q != q));
                        results[half] |= u32(is_true) << lane;
                    }
                for (u32 half = 0; half < 2; ++half)
                    decide(op.decided[half], warp, mask, joined(op.joins, results[half], given));
            });
        case CODE_pack_f16:
            return of_words(op, [&](u32 a, u32 b, u32) {
                return half_in(op.mode, as_real(a), is_brain) << 16 | half_in(op.mode, as_real(b), is_brain);
            });
        default:
            if (op.flags & SINGLE_RESULT)
                return of_words(op, [&](u32 a, u32 b, u32 c) {
                    const f64 x = operand_of(op, a, 0, 0), y = operand_of(op, b, 0, 1), z = operand_of(op, c, 0, 2);
                    return bits_of(f32(result_of(op, x, y, z)));
                });
            return of_halves([&](f64 x, f64 y, f64 z, bool) { return half_of(result_of(op, x, y, z), is_brain); });
    }
}

void Machine::conversions(const Op &op) {
    if (op.code == CODE_to_integer) return integer_of_real(op);
    if (op.code == CODE_to_real)
        return each_warp([&](u32 warp, u32 mask) {
            Pairs given, result;
            Words narrow;
            if (op.size == 8) {
                pair(0, warp, given);
            } else {
                const u32 *a = word(0, warp, narrow), shift = op.immediate;
                for (u32 lane = 0; lane < WARP; ++lane) {
                    const u32 part = a[lane] >> shift;
                    if (op.size == 4) given[lane] = op.flags & SIGNED ? u64(s64(s32(part))) : part;
                    if (op.size == 2) given[lane] = op.flags & SIGNED ? u64(s64(s16(part))) : u16(part);
                    if (op.size == 1) given[lane] = op.flags & SIGNED ? u64(s64(s8(part))) : u8(part);
                }
            }
            const bool is_signed = op.flags & SIGNED;
            for (u32 lane = 0; lane < WARP; ++lane) {
                const u64 x = given[lane];
                if (op.count == 8)
                    result[lane] = bits_of(is_signed ? double_of(op.mode, s64(x)) : double_of(op.mode, x));
                else if (op.count == 4)
                    narrow[lane] = bits_of(is_signed ? single_of(op.mode, s64(x)) : single_of(op.mode, x));
                else
                    narrow[lane] = half_in(op.mode, is_signed ? odd_of(s64(x)) : odd_of(x), op.flags & BRAIN);
            }
            if (op.count == 8)
                write(op.to, warp, mask, result);
            else
                write(op.to, warp, mask, narrow);
        });
    return each_warp([&](u32 warp, u32 mask) {
        Pairs given, result;
        Words room, narrow;
        reals_of(op, warp, given, room);
        for (u32 lane = 0; lane < WARP; ++lane) {
            f64 value = as_double(given[lane]);
            if (op.flags & JOINED) value = whole_of(op.joins, value);
            result[lane] = bits_of(value);
            narrow[lane] = op.count == 4 ? bits_of(single_of_double(op.mode, value))
                                         : half_in(op.mode, value, op.flags & BRAIN);
        }
        if (op.count == 8)
            write(op.to, warp, mask, result);
        else
            write(op.to, warp, mask, narrow);
    });
}

// The real numbers of a source as float64: of 8 or 4 bytes, or a half in the lower or upper part of a register.
void Machine::reals_of(const Op &op, u32 warp, Pairs &values, Words &room) const {
    if (op.size == 8) return pair(0, warp, values);
    const u32 *words = word(0, warp, room);
    for (u32 lane = 0; lane < WARP; ++lane) {
        if (op.size == 4) {
            values[lane] = bits_of(f64(as_real(words[lane])));
            continue;
        }
        const u32 bits = words[lane] >> (op.flags & UPPER_PART ? 16 : 0) & 0xFFFF;
        f64 value = op.flags & WIDE ? Brain::number(bits) : Half::number(bits);
        if (op.immediate & 1) value = std::fabs(value);
        values[lane] = bits_of(op.immediate & 2 ? -value : value);
    }
}

// A real number rounded to an integer, the nearest that there is.
void Machine::integer_of_real(const Op &op) {
    const bool is_signed = op.flags & SIGNED;
    const u64 bits = 8 * op.count, highest = u64(1) << (bits - 1);
    const u64 nothing = op.flags & NAN_IS_ZERO ? 0 : is_signed ? ~(highest - 1) : highest;
    each_warp([&](u32 warp, u32 mask) {
        Pairs given, result;
        Words room, narrow;
        reals_of(op, warp, given, room);
        for (u32 lane = 0; lane < WARP; ++lane) {
            const f64 whole = whole_of(op.joins, as_double(given[lane]));
            switch (op.count) {
                case 1: result[lane] = limited_to<s8, u8>(whole, is_signed, nothing); break;
                case 2: result[lane] = limited_to<s16, u16>(whole, is_signed, nothing); break;
                case 4: result[lane] = limited_to<s32, u32>(whole, is_signed, nothing); break;
                default: result[lane] = limited_to<s64, u64>(whole, is_signed, nothing);
            }
            narrow[lane] = u32(result[lane]);
        }
        if (op.count == 8)
            write(op.to, warp, mask, result);
        else
            write(op.to, warp, mask, narrow);
    });
}

}  // namespace sass
