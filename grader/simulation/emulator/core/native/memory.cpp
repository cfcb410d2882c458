// Accesses to memory: state space, bounds and alignment, what is set, races, counters, and the bytes themselves.
#include <algorithm>
#include <bit>
#include <cstring>

#include "lanes.hpp"
#include "machine.hpp"

namespace {

constexpr s64 WINDOW = s64(1) << 32;
constexpr u16 MOST_ROUNDS = 4096;
constexpr u32 MOST_LOCAL = 1u << 25;  // bytes of a thread, so that those of a warp are within 31 bits
constexpr int BANKS = 32, WORD = 4, SECTOR_SHIFT = 5;

// Eight lanes of words, at any address.
typedef u32 Words [[gnu::vector_size(EIGHT * WORD), gnu::aligned(WORD), gnu::may_alias]];

constexpr u64 mixed(u64 hash, u64 value) { return (hash ^ value) * 0x9E3779B97F4A7C15 + (hash >> 29); }

// What a load asks of memory, and what it is given.
u64 asked(const Op &op, u32 mask, const u8 *memory, const Request &at) {
    u64 seen = mask;
    each(mask, [&](int lane) {
        u64 value = 0;
        std::memcpy(&value, memory + at[lane], op.size);
        seen = mixed(mixed(seen, u64(at[lane])), value);
    });
    return seen;
}

}  // namespace

// The whole access of a warp, which may be of several elements a lane.
bool Machine::access(const Op &op, u32 pc, Warp &of, u32 mask, Way way) {
    Request at;
    Space space = Space(op.space);
    if (!resolve(op, pc, of, mask, way, space, at)) return false;
    if (way == UPDATE && space == LOCAL) return fail(NOT_LOWERED, pc);
    u8 *memory = space == GLOBAL ? in.global_bytes : space == SHARED ? shared.data() : local.data();
    u8 *set = !detecting ? nullptr : space == GLOBAL ? in.global_set : space == SHARED ? shared_set.data() : local_set.data();
    const int whole = op.size * op.count;
    if ((space == SHARED && shared_is_set) || (space == LOCAL && op.flags & COPYING)) set = nullptr;
    if (set && (space != GLOBAL || way == WRITE) && !is_set(set, at, mask, whole, way)) return fail(UNSET_MEMORY, pc);
    if (space == SHARED && !follow_shared(of, pc, mask, at, whole, way)) return fail(RACE, pc);
    if (detecting && way != READ && space == GLOBAL) result.global_store_bytes += u64(whole) * u32(std::popcount(mask));
    for (int part = 0; part < op.count; ++part) {
        if (counting && way != WRITE) count(op, pc, mask, space, at, READ, part);
        if (counting && way != READ) count(op, pc, mask, space, at, WRITE, part);
        if (way == UPDATE) {
            if (!update(op, of, mask, memory, at, space == GLOBAL)) return fail(SPINNING, pc);
        } else
            move(op, of, mask, way == WRITE, memory, at, part);
        if (op.flags & STRONG && !goes_on(of, pc, false, asked(op, mask, memory, at))) return fail(SPINNING, pc);
        at.origin += op.size;
    }
    if (way == WRITE) of.rounds = 0;
    return true;
}

// The bytes that the lanes access, in the memory of a state space; false if any may not.
bool Machine::resolve(const Op &op, u32 pc, Warp &of, u32 mask, Way way, Space &space, Request &at) {
    const u8 *base = source(of, op.a);
    const s64 *wide = reinterpret_cast<const s64 *>(base);
    const s32 *narrow = reinterpret_cast<const s32 *>(base);
    const bool is_wide = op.flags & ADDRESS_64;
    Pattern &pattern = patterns[pc];
    if (!(is_wide ? pattern.is(mask, wide) : pattern.is(mask, narrow))) {
        if (pattern.logged == shared_reads.number) mark_shared_reads();
        if (!(is_wide ? pattern.take(mask, wide) : pattern.take(mask, narrow))) return fail(MIXED_SPACES, pc);
    }
    const int first = std::countr_zero(mask), whole = op.size * op.count;
    at = {(is_wide ? wide[first] : narrow[first]) + op.imm, pattern.relative, pattern.step};
    if ((u64(at.origin) | pattern.bits) & u32(whole - 1)) return fail(ALIGNMENT, pc);
    s64 low = at.origin + pattern.low, high = at.origin + pattern.high, shift = 0;
    if (space == GENERIC) {
        space = GLOBAL;
        for (auto [candidate, where] : {std::pair{SHARED, in.shared_window}, std::pair{LOCAL, in.local_window}}) {
            if (low >= where && high < where + WINDOW)
                space = candidate, shift = where;
            else if (high >= where - WINDOW && low < where + WINDOW)
                return fail(MIXED_SPACES, pc);
        }
    }
    low -= shift, high -= shift;
    at.origin -= shift;
    const Bound &bound = in.bounds[op.target];
    if (bound.known && (Space(bound.space) != space || low < bound.low || high + whole > bound.high))
        return fail(BOUNDS, pc);
    if (space == GLOBAL) {
        at.origin -= in.global_base;
        return in_arrays(pc, of, mask, way, at, low - in.global_base, high - in.global_base, whole);
    }
    if (low < 0 || high + whole > (space == SHARED ? in.shared_bytes : in.local_bytes)) return fail(BOUNDS, pc);
    if (space == LOCAL) {  // whose bytes are those of the thread
        if (in.local_bytes > MOST_LOCAL) return fail(NOT_LOWERED, pc);
        at.origin += s64(of.number * WARP + first) * in.local_bytes;
        for (int lane = 0; lane < WARP; ++lane)
            local_relative[lane] = pattern.relative[lane] + (lane - first) * s32(in.local_bytes);
        at.relative = local_relative, at.step = -1;
    }
    return true;
}

int Machine::array_of(s64 low, s64 end) const {
    if (in.array_count == 0) return -1;
    const Array *first = in.arrays, *last = first + in.array_count;
    const Array &cached = in.arrays[last_array];
    if (cached.start <= low && end <= cached.end) return last_array;
    const Array *after = std::upper_bound(first, last, low, [](s64 byte, const Array &a) { return byte < a.start; });
    if (after == first || end > after[-1].end) return -1;
    return last_array = int(after - first) - 1;
}

// Each lane's access to global memory stays within one array.
bool Machine::in_arrays(u32 pc, Warp &of, u32 mask, Way way, const Request &at, s64 low, s64 high, int size) {
    const int only = array_of(low, high + size);
    if (only >= 0) return in_array(only, pc, of, mask, way, at, size);
    while (mask) {
        const int lane = std::countr_zero(mask), which = array_of(at[lane], at[lane] + size);
        if (which < 0) return fail(BOUNDS, pc);
        u32 there = 0;
        each(mask, [&](int other) {
            if (at[other] >= in.arrays[which].start && at[other] + size <= in.arrays[which].end) there |= 1u << other;
        });
        if (!in_array(which, pc, of, there, way, at, size)) return false;
        mask &= ~there;
    }
    return true;
}

// The array may be accessed so, and no access of another thread races with these.
bool Machine::in_array(int which, u32 pc, Warp &of, u32 mask, Way way, const Request &at, int size) {
    const Array &array = in.arrays[which];
    if (way != READ && array.constant) return fail(BOUNDS, pc);
    if (in.touched) touch(mask, way, at, size);
    if (detecting && in.global_set && way != WRITE && !array.filled && !is_set(in.global_set, at, mask, size, READ))
        return fail(UNSET_MEMORY, pc);
    Shadow &shadow = array_shadows[which];
    if (!array.tracked && (way != READ ? was_read[which] : shadow.is_there()))
        return result.status = TRACK, result.array = u32(which), false;
    if (way == READ && !array.tracked) {
        was_read[which] = true;
        return true;
    }
    if (!shadow.is_there()) {
        const u64 cells = u64((array.end >> in.grain_shift) - (array.start >> in.grain_shift)) + 2;
        if (!shadow.prepare(cells, array.tracked)) return fail(NO_MEMORY, pc);
    }
    return follow(shadow, of, mask, at, array.start, size, way, true) || fail(RACE, pc);
}

void Machine::touch(u32 mask, Way way, const Request &at, int size) {
    u8 *marks = in.touched + u64(way) * in.touched_bytes;
    each(mask, [&](int lane) {
        if (u64(at[lane] + size) <= in.touched_bytes) std::memset(marks + at[lane], 1, size);
    });
}

// As `follow`; while nobody writes, reads are only kept, and marked before the first write that comes.
bool Machine::follow_shared(const Warp &of, u32 pc, u32 mask, const Request &at, int size, Way way) {
    const bool quiet = shared_reads.last_write < interval_began;
    if (way == READ && quiet && shared_reads.log.size() < SharedReads::MOST) {
        const Moment moment{now, interval_began, of.synchronised, 0, of.number};
        shared_reads.log.push_back({moment, pc, u32(of.number) * WARP, s32(at.origin), size});
        patterns[pc].logged = shared_reads.number;
        return true;
    }
    mark_shared_reads();
    if (way != READ) shared_reads.last_write = now;
    return follow(shared_shadow, of, mask, at, 0, size, way, false);
}

void Machine::mark_shared_reads() {
    for (const SharedReads::Read &read : shared_reads.log) {
        const Pattern &pattern = patterns[read.op];
        for (int c = 0; c < std::max(1, read.size >> in.grain_shift); ++c)
            each(pattern.mask, [&](int lane) {
                const u32 cell = u32(read.origin + pattern.relative[lane]) >> in.grain_shift;
                shared_shadow.read(cell + c, read.thread + lane, read.at);
            });
    }
    end_shared_reads();
}

void Machine::end_shared_reads() {
    shared_reads.log.clear();
    ++shared_reads.number;
}

bool Machine::follow(Shadow &shadow, const Warp &of, u32 mask, const Request &at, s64 first, int size, Way way,
                     bool between_blocks) {
    const Moment moment{now, interval_began, of.synchronised, between_blocks ? block_began : 0, of.number};
    const s64 start = first >> in.grain_shift;
    const int cells = std::max(1, size >> in.grain_shift);
    const u32 thread = u32(of.number) * WARP;
    bool good = true;
    if (way == UPDATE && !shadow.prepare_updates()) return false;
    for (int c = 0; c < cells; ++c) {
        const auto cell = [&](int lane) { return u64((at[lane] >> in.grain_shift) - start + c); };
        if (way == WRITE && mask == NONE && at.step == size && size == 1 << in.grain_shift)
            for (int first_of = 0; first_of < WARP; first_of += EIGHT) {
                if (shadow.write_first(cell(first_of), thread + first_of, moment)) continue;
                for (int lane = first_of; lane < first_of + EIGHT; ++lane)
                    good &= shadow.write(cell(lane), thread + lane, moment);
            }
        else if (way == WRITE)
            each(mask, [&](int lane) { good &= shadow.write(cell(lane), thread + lane, moment); });
        else if (way == READ)
            each(mask, [&](int lane) { good &= shadow.read(cell(lane), thread + lane, moment); });
        else
            each(mask, [&](int lane) { good &= shadow.update(cell(lane), thread + lane, moment); });
    }
    return good;
}

// Reads and updates: true if every byte holds a value. Writes: from now on they do.
bool Machine::is_set(u8 *set, const Request &at, u32 mask, int size, Way way) {
    if (size == 4) {
        constexpr u32 ALL = 0x01010101;
        u32 good = ALL;
        if (mask == NONE && at.step == size) {
            for (int first = 0; first < WARP; first += EIGHT) {
                u32 *eight = reinterpret_cast<u32 *>(set + at[first]);
                for (int lane = 0; lane < EIGHT; ++lane)
                    if (way == WRITE)
                        eight[lane] = ALL;
                    else
                        good &= eight[lane];
            }
        } else if (way == WRITE)
            each(mask, [&](int lane) { std::memcpy(set + at[lane], &ALL, 4); });
        else
            each(mask, [&](int lane) {
                u32 four;
                std::memcpy(&four, set + at[lane], 4);
                good &= four;
            });
        return good == ALL;
    }
    bool good = true;
    each(mask, [&](int lane) {
        if (way == WRITE)
            std::memset(set + at[lane], 1, size);
        else
            for (int byte = 0; byte < size; ++byte) good &= set[at[lane] + byte] != 0;
    });
    return good;
}

void Machine::move(const Op &op, Warp &of, u32 mask, bool is_store, u8 *memory, const Request &at, int part) {
    switch (op.size * 2 + is_store) {
        case 2: return transfer<false, 1>(op, of, mask, memory, at, part);
        case 3: return transfer<true, 1>(op, of, mask, memory, at, part);
        case 4: return transfer<false, 2>(op, of, mask, memory, at, part);
        case 5: return transfer<true, 2>(op, of, mask, memory, at, part);
        case 8: return transfer<false, 4>(op, of, mask, memory, at, part);
        case 9: return transfer<true, 4>(op, of, mask, memory, at, part);
        case 16: return transfer<false, 8>(op, of, mask, memory, at, part);
        default: return transfer<true, 8>(op, of, mask, memory, at, part);
    }
}

namespace {

// What an atomic operation leaves: `by` is its operand, `then` the second one of `cas`.
template <typename U>
U updated(Update how, U old, U by, U then, bool flushes) {
    using S = std::make_signed_t<U>;
    switch (how) {
        case ADD: return old + by;
        case AND: return old & by;
        case OR: return old | by;
        case XOR: return old ^ by;
        case MIN_U: return std::min(old, by);
        case MAX_U: return std::max(old, by);
        case MIN_S: return U(std::min(S(old), S(by)));
        case MAX_S: return U(std::max(S(old), S(by)));
        case EXCHANGE: return by;
        case SWAP_IF_EQUAL: return old == by ? then : old;
        case INCREMENT: return old >= by ? 0 : old + 1;
        case DECREMENT: return old == 0 || old > by ? by : old - 1;
        case ADD_FLOAT: break;
    }
    if constexpr (sizeof(U) == 8)
        return std::bit_cast<U>(std::bit_cast<f64>(old) + std::bit_cast<f64>(by));
    else if (flushes)
        return std::bit_cast<U>(flushed(flushed(std::bit_cast<f32>(old)) + flushed(std::bit_cast<f32>(by))));
    else
        return std::bit_cast<U>(std::bit_cast<f32>(old) + std::bit_cast<f32>(by));
}

// Lanes that name one address take turns, the lowest first.
template <typename U>
bool update_each(const Op &op, u32 mask, u8 *memory, const Request &at, const u8 *by, const u8 *then, u8 *result,
                 bool flushes, u64 &seen) {
    bool changes = false;
    each(mask, [&](int lane) {
        U old;
        std::memcpy(&old, memory + at[lane], sizeof old);
        const U value = updated<U>(Update(op.more[0]), old, reinterpret_cast<const U *>(by)[lane],
                                   reinterpret_cast<const U *>(then)[lane], flushes);
        std::memcpy(memory + at[lane], &value, sizeof value);
        if (result) reinterpret_cast<U *>(result)[lane] = old;
        changes |= value != old;
        seen = mixed(mixed(seen, u64(at[lane])), old);
    });
    return changes;
}

}  // namespace

// An atomic operation of a warp; false where it only waits for others.
bool Machine::update(const Op &op, Warp &of, u32 mask, u8 *memory, const Request &at, bool flushes) {
    const u8 *by = source(of, op.b), *then = op.more[0] == SWAP_IF_EQUAL ? source(of, op.c) : by;
    u8 *result = op.dst == NONE ? nullptr : of.registers + op.dst;
    u64 seen = mask;
    const bool changes = op.size == 4 ? update_each<u32>(op, mask, memory, at, by, then, result, flushes, seen)
                                      : update_each<u64>(op, mask, memory, at, by, then, result, flushes, seen);
    return goes_on(of, u32(&op - in.ops), changes, seen);
}

// False where a warp has asked the same of memory again and again, and had the same answer: what it waits for
// comes from another warp, which has its turn only later.
bool Machine::goes_on(Warp &of, u32 pc, bool changes, u64 values) {
    const u64 access = mixed(values, pc);
    of.rounds = changes || access != of.last_access ? 0 : of.rounds + 1;
    of.last_access = access;
    return of.rounds < MOST_ROUNDS;
}

template <bool STORE, int SIZE>
void Machine::transfer(const Op &op, Warp &of, u32 mask, u8 *memory, const Request &at, int part) {
    const u32 offset = part ? op.more[part - 1] : op.dst;
    if constexpr (STORE) {
        const u8 *from = source(of, offset);
        const int stride = op.flags & WIDE ? 8 : 4;
        if (SIZE == stride && at.step == SIZE)
            for (int lane = 0; lane < WARP; lane += EIGHT)
                for (int word = 0; word < SIZE; word += WORD) {
                    const int byte = word * EIGHT;
                    *reinterpret_cast<Words *>(memory + at[lane] + byte) =
                        *reinterpret_cast<const Words *>(from + lane * SIZE + byte);
                }
        else
            each(mask, [&](int lane) { std::memcpy(memory + at[lane], from + lane * stride, SIZE); });
    } else {
        if (offset == NONE) return;
        u8 *to = of.registers + offset;
        if (SIZE == 4 && !(op.flags & WIDE)) {
            u32 *lanes = reinterpret_cast<u32 *>(to);
            const u8 *from = memory + at.origin;
            if (at.step == SIZE)
                for (int lane = 0; lane < WARP; lane += EIGHT)
                    *reinterpret_cast<Words *>(lanes + lane) = *reinterpret_cast<const Words *>(from + at.relative[lane]);
            else if (at.step == 0)
                for (int lane = 0; lane < WARP; lane += EIGHT)
                    *reinterpret_cast<Words *>(lanes + lane) = Words{} + *reinterpret_cast<const u32 *>(from + at.relative[lane]);
            else
                each(mask, [&](int lane) { lanes[lane] = *reinterpret_cast<const u32 *>(from + at.relative[lane]); });
            return;
        }
        each(mask, [&](int lane) {
            u64 value = 0;
            std::memcpy(&value, memory + at[lane], SIZE);
            if (SIZE < 8 && op.flags & SIGNED) value = u64(s64(value << (64 - 8 * SIZE)) >> (64 - 8 * SIZE));
            if (op.flags & NARROW_16) value &= 0xFFFF;
            if (op.flags & WIDE)
                reinterpret_cast<u64 *>(to)[lane] = value;
            else
                reinterpret_cast<u32 *>(to)[lane] = u32(value);
        });
    }
}

void Machine::count(const Op &op, u32 pc, u32 mask, Space space, const Request &at, Way way, int part) {
    const u64 bytes = u64(op.size) * u32(std::popcount(mask));
    if (space == GLOBAL) {
        if (way == READ && in.arrays[last_array].constant) return;
        (way == WRITE ? result.global_store_bytes : result.global_load_bytes) += bytes;
        if (part == 0) (way == WRITE ? result.global_store_sectors : result.global_load_sectors) += sectors(pc, at);
    } else if (space == SHARED) {
        (way == WRITE ? result.shared_store_bytes : result.shared_load_bytes) += bytes;
        if (part == 0) result.shared_bank_conflicts += bank_conflicts(pc, at, op.size * op.count);
    }
}

// Distinct sectors of 32 bytes in the request of a warp. An element is aligned, so it begins in the sector of its word.
u32 Machine::sectors(u32 pc, const Request &at) {
    Pattern &pattern = patterns[pc];
    u8 &counted = pattern.sectors[u32(at.origin) / WORD % EIGHT];
    if (counted && !(pattern.bits % WORD)) return counted;
    s64 sorted[WARP];
    int count = 0;
    each(pattern.mask, [&](int lane) { sorted[count++] = at[lane] >> SECTOR_SHIFT; });
    if (!std::is_sorted(sorted, sorted + count)) std::sort(sorted, sorted + count);
    return counted = u8(std::unique(sorted, sorted + count) - sorted);
}

// Passes beyond those of a request without conflicts: lanes go in phases of as many as need 128 bytes.
u32 Machine::bank_conflicts(u32 pc, const Request &at, int size) {
    Pattern &pattern = patterns[pc];
    const u32 lowest = u32(at.origin) & (WORD - 1);
    if (pattern.conflicts_of == lowest) return pattern.conflicts;
    const int width = std::max(size, WORD), together = WARP * WORD / width;
    u32 total = 0;
    s64 words[WARP];
    int lanes = 0, count = 0;
    auto end_phase = [&] {
        std::sort(words, words + count);
        const int distinct = int(std::unique(words, words + count) - words);
        u32 served[BANKS] = {}, busiest = 0;
        for (int w = 0; w < distinct; ++w) busiest = std::max(busiest, ++served[words[w] & (BANKS - 1)]);
        total += busiest ? busiest - 1 : 0;
        lanes = count = 0;
    };
    each(pattern.mask, [&](int lane) {
        for (int byte = 0; byte < width; byte += WORD) words[count++] = (at[lane] + byte) >> 2;
        if (++lanes == together) end_phase();
    });
    if (lanes) end_phase();
    pattern.conflicts_of = lowest;
    return pattern.conflicts = total;
}
