// Integer instructions: sums, products, comparisons, the larger and the smaller.
#include <algorithm>

#include "machine.hpp"

namespace sass {

namespace {

// A part of a word, extended by its sign if it has one.
s64 part_of(u32 word, u32 shift, u32 size, bool is_signed) {
    word = shift < 32 ? word >> shift : 0;
    if (size == 1) return is_signed ? s64(s8(word)) : s64(u8(word));
    if (size == 2) return is_signed ? s64(s16(word)) : s64(u16(word));
    return is_signed ? s64(s32(word)) : s64(word);
}

u32 distance(s64 x, s64 y) { return u32(x < y ? y - x : x - y); }

bool holds(u8 comparison, s64 x, s64 y) {
    switch (comparison) {
        case EQ: return x == y;
        case NE: return x != y;
        case LT: return x < y;
        case LE: return x <= y;
        case GT: return x > y;
        default: return x >= y;
    }
}

u32 dot(const Op &op, u32 x, u32 y, u32 total) {
    const u32 first = op.size, second = op.space, skipped = op.flags & HIGH ? 2 : 0;
    for (u32 index = 0; index < 4 / first; ++index)
        total += u32(part_of(x, 8 * first * index, first, op.flags & SIGNED) *
                     part_of(y, 8 * second * (index + skipped), second, op.flags & SIGNED_SECOND));
    return total;
}

u32 difference(const Op &op, u32 x, u32 y, u32 total) {
    const bool is_signed = op.flags & SIGNED;
    if (op.size == 4) return distance(part_of(x, 0, 4, is_signed), part_of(y, 0, 4, is_signed)) + total;
    for (u32 shift = 0; shift < 32; shift += 8) {
        const u32 apart = distance(part_of(x, shift, 1, is_signed), part_of(y, shift, 1, is_signed));
        total += op.flags & ACCUMULATES ? apart : apart << shift;
    }
    return total;
}

u32 sum_of_halves(u32 x, u32 y) { return ((x + y) & 0xFFFF) | ((x & 0xFFFF0000) + (y & 0xFFFF0000)); }

u32 negated_halves(u32 x) { return sum_of_halves(~x, 0x00010001); }

}  // namespace

void Machine::integer(const Op &op) {
    // Carries that come in count 1 each; those that go out say whether the sum is beyond 2³², 2 · 2³², …
    const auto carried = [&](u32 warp, u64 (&totals)[WARP]) {
        for (u32 number = 0; number < op.immediate; ++number) {
            const u32 carries = truth(op.truths[number], warp);
            for (u32 lane = 0; lane < WARP; ++lane) totals[lane] += carries >> lane & 1;
        }
    };
    // A negative addend is its complement and 1, which may carry.
    const auto addend = [&](u32 number, u32 warp, u64 (&values)[WARP]) {
        Words room;
        const Operand &of = operand(number);
        if (!of.step) return pair(number, warp, values);  // of a fixed one this is done already
        const bool is_negated = of.signs == NEGATED;
        const u32 *words = is_negated ? of.low + of.step * warp : word(number, warp, room);
        for (u32 lane = 0; lane < WARP; ++lane)
            values[lane] = is_negated ? (u64(1) << 32) - words[lane] : words[lane];
    };
    const auto above = [](const u64 (&totals)[WARP], u64 most) {
        u32 bits = 0;
        for (u32 lane = 0; lane < WARP; ++lane) bits |= u32(totals[lane] > most) << lane;
        return bits;
    };
    switch (op.code) {
        case CODE_add: return of_words(op, [](u32 a, u32 b, u32 c) { return a + b + c; });
        case CODE_multiply_add: {
            if (!(op.flags & CARRIES_IN)) return of_words(op, [](u32 a, u32 b, u32 c) { return a * b + c; });
            return each_warp([&](u32 warp, u32 mask) {
                Words x, y, z, result;
                const u32 *a = word(0, warp, x), *b = word(1, warp, y), *c = word(2, warp, z);
                const u32 carries = truth(op.truths[0], warp);
                for (u32 lane = 0; lane < WARP; ++lane)
                    result[lane] = a[lane] * b[lane] + c[lane] + (carries >> lane & 1);
                write(op.to, warp, mask, result);
            });
        }
        case CODE_add_with_carries:
            return each_warp([&](u32 warp, u32 mask) {
                u64 total[WARP] = {}, part[WARP];
                for (u32 number = 0; number < op.count; ++number) {
                    addend(number, warp, part);
                    for (u32 lane = 0; lane < WARP; ++lane) total[lane] += part[lane];
                }
                carried(warp, total);
                Words result;
                for (u32 lane = 0; lane < WARP; ++lane) result[lane] = u32(total[lane]);
                write(op.to, warp, mask, result);
                for (u64 number = 0; number < 2; ++number)
                    decide(op.decided[number], warp, mask, above(total, ((number + 1) << 32) - 1));
            });
        case CODE_add_halves:
            return of_words(op, [&](u32 a, u32 b, u32 c) {
                const u32 x = op.flags & SIGNED ? negated_halves(a) : a;
                const u32 y = op.flags & SIGNED_SECOND ? negated_halves(b) : b;
                return sum_of_halves(sum_of_halves(x, y), op.flags & EXTENDED ? negated_halves(c) : c);
            });
        case CODE_multiply_wide:
            return each_warp([&](u32 warp, u32 mask) {
                Words x, y, high;
                Pairs addends, total;
                const u32 *a = word(0, warp, x), *b = word(1, warp, y);
                pair(2, warp, addends);
                for (u32 lane = 0; lane < WARP; ++lane) {
                    const s64 product = s64(s32(a[lane])) * s32(b[lane]);
                    total[lane] = addends[lane] + (op.flags & SIGNED ? u64(product) : u64(a[lane]) * b[lane]);
                }
                carried(warp, total);
                u32 beyond = 0;
                for (u32 lane = 0; lane < WARP; ++lane) {
                    high[lane] = u32(total[lane] >> 32);
                    beyond |= u32(total[lane] < addends[lane]) << lane;
                }
                if (op.flags & HIGH)
                    write(op.to, warp, mask, high);
                else
                    write(op.to, warp, mask, total);
                for (s8 predicate : op.decided) decide(predicate, warp, mask, beyond);
            });
        case CODE_shift_add:
            return each_warp([&](u32 warp, u32 mask) {
                Words x, z, result;
                u64 total[WARP];
                const u32 *a = word(0, warp, x), *upper = word(2, warp, z);
                addend(1, warp, total);
                const u32 shift = op.mode;
                for (u32 lane = 0; lane < WARP; ++lane) {
                    u64 shifted = u32(u64(a[lane]) << shift);
                    if (op.flags & HIGH) {
                        const u32 above_it = op.flags & EXTENDED ? u32(s32(a[lane]) >> 31) : upper[lane];
                        shifted = (a[lane] | u64(above_it) << 32) << shift >> 32;
                    }
                    total[lane] += shifted;
                }
                carried(warp, total);
                for (u32 lane = 0; lane < WARP; ++lane) result[lane] = u32(total[lane]);
                write(op.to, warp, mask, result);
                for (s8 predicate : op.decided) decide(predicate, warp, mask, above(total, ALL));
            });
        case CODE_compare: return compare(op);
        case CODE_extreme: return extreme(op);
        case CODE_dot: return of_words(op, [&](u32 a, u32 b, u32 c) { return dot(op, a, b, c); });
        default: return of_words(op, [&](u32 a, u32 b, u32 c) { return difference(op, a, b, c); });
    }
}

// A comparison, joined with a predicate; the upper halves of 64 bits take the result of the lower ones.
void Machine::compare(const Op &op) {
    const u8 strict = op.mode == LE ? u8(LT) : op.mode == GE ? u8(GT) : op.mode;
    const bool is_signed = op.flags & SIGNED;
    each_warp([&](u32 warp, u32 mask) {
        Words x, y;
        const u32 *a = word(0, warp, x), *b = word(1, warp, y);
        const u32 lower = op.flags & EXTENDED ? truth(op.truths[1], warp) : 0;
        u32 result = 0;
        for (u32 lane = 0; lane < WARP; ++lane) {
            const s64 left = is_signed ? s64(s32(a[lane])) : a[lane], right = is_signed ? s64(s32(b[lane])) : b[lane];
            bool is_true = holds(op.flags & EXTENDED ? strict : op.mode, left, right);
            if (op.flags & EXTENDED) {
                const bool below = lower >> lane & 1;
                if (op.mode == NE) is_true = is_true || below;
                else if (op.mode == EQ) is_true = is_true && below;
                else is_true = is_true || (left == right && below);
            }
            result |= u32(is_true) << lane;
        }
        const u32 given = truth(op.truths[0], warp);
        decide(op.decided[0], warp, mask, joined(op.joins, result, given));
        decide(op.decided[1], warp, mask, joined(op.joins, ~result, given));
    });
}

// The smallest of two or three where the predicate holds, else the largest; perhaps of halves, or of a sum.
void Machine::extreme(const Op &op) {
    const u32 size = op.size, bits = 8 * size;
    const bool is_signed = op.flags & SIGNED, adds = op.flags & ACCUMULATES;
    each_warp([&](u32 warp, u32 mask) {
        Words x, y, z, result;
        const u32 *a = word(0, warp, x), *b = word(1, warp, y), *c = word(2, warp, z);
        const u32 smallest = truth(op.truths[0], warp);
        for (u32 lane = 0; lane < WARP; ++lane) {
            result[lane] = 0;
            for (u32 shift = 0; shift < 32; shift += bits) {
                s64 first = part_of(a[lane], shift, size, is_signed);
                s64 second = part_of(b[lane], shift, size, is_signed);
                const s64 third = part_of(c[lane], shift, size, is_signed);
                if (adds) first = part_of(u32(first + second), 0, size, is_signed), second = third;
                s64 least = std::min(first, second), most = std::max(first, second);
                if (op.count == 3 && !adds) least = std::min(least, third), most = std::max(most, third);
                s64 value = smallest >> lane & 1 ? least : most;
                if (op.flags & RECTIFIES) value = std::max<s64>(value, 0);
                result[lane] |= (u32(value) & (size == 4 ? ALL : 0xFFFF)) << shift;
            }
        }
        write(op.to, warp, mask, result);
    });
}

}  // namespace sass
