#include "machine.hpp"

#include "codes.hpp"
#include "lanes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace {

constexpr u32 MULTIPROCESSORS = 108;

// The order of `SPECIALS` in `lowering.py`.
enum Special {
    TID_X, TID_Y, TID_Z, NTID_X, NTID_Y, NTID_Z, CTAID_X, CTAID_Y, CTAID_Z, NCTAID_X, NCTAID_Y, NCTAID_Z,
    LANEID, WARPID, NWARPID, MASK_EQ, MASK_LT, MASK_LE, MASK_GT, MASK_GE, SMID,
};

}  // namespace

Machine::Machine(const LaunchInput &input) : in(input) {
    detecting = in.detect;
    counting = !detecting;
    threads = in.block[0] * in.block[1] * in.block[2];
    warps = (threads + WARP - 1) / WARP;
    blocks = u64(in.grid[0]) * in.grid[1] * in.grid[2];
    registers.reset(new u8[u64(warps) * in.register_bytes + 64]);
    shared.resize(in.shared_bytes + 16);
    local.resize(u64(threads) * in.local_bytes + 16);
    if (detecting) shared_set.resize(shared.size()), local_set.resize(local.size());
    warp.resize(warps);
    if (in.shared_bytes) shared_reads.log.reserve(SharedReads::MOST);  // later nothing is allocated that may throw
    patterns.resize(in.op_count);
    array_shadows.resize(in.array_count);
    was_read.resize(in.array_count);
    u8 *first = registers.get() + (64 - reinterpret_cast<std::uintptr_t>(registers.get()) % 64) % 64;
    for (u32 w = 0; w < warps; ++w) {
        warp[w].registers = first + u64(w) * in.register_bytes;
        warp[w].number = u16(w);
    }
    if (in.shared_bytes && !shared_shadow.prepare((in.shared_bytes >> in.grain_shift) + 1, true))
        result.status = NOT_CLEAN, result.reason = NO_MEMORY;
}

bool Machine::fail(Reason reason, u32 op) {
    result.status = NOT_CLEAN, result.reason = reason, result.op = op;
    return false;
}

bool Machine::begin_block() {
    const u64 x = block % in.grid[0], y = block / in.grid[0] % in.grid[1], z = block / (u64(in.grid[0]) * in.grid[1]);
    block_began = interval_began = ++now;
    result.work += WORK_OF_BEGINNING * warps;
    end_shared_reads();
    shared_is_set = false;
    if (!detecting) std::fill(shared.begin(), shared.end(), 0xFF);  // else nobody reads what nobody set
    std::fill(local.begin(), local.end(), 0xFF);
    std::fill(shared_set.begin(), shared_set.end(), 0);
    std::fill(local_set.begin(), local_set.end(), 0);
    for (u32 w = 0; w < warps; ++w) {
        Warp &of = warp[w];
        const u32 count = std::min<u32>(WARP, threads - w * WARP);
        of.alive = count == WARP ? NONE : (1u << count) - 1;
        of.synchronised = now, of.rounds = 0, of.last_access = 0, of.running = 1, of.waiting = 0, of.groups[0] = {0, of.alive};
        auto set = [&](Special which, auto value) {
            if (in.special[which] == NONE) return;
            u32 *lanes = reinterpret_cast<u32 *>(of.registers + in.special[which]);
            for (u32 lane = 0; lane < WARP; ++lane) lanes[lane] = u32(value(lane, w * WARP + lane));
        };
        auto all = [&](Special which, u64 value) { set(which, [=](u32, u32) { return value; }); };
        set(TID_X, [&](u32, u32 t) { return t % in.block[0]; });
        set(TID_Y, [&](u32, u32 t) { return t / in.block[0] % in.block[1]; });
        set(TID_Z, [&](u32, u32 t) { return t / (in.block[0] * in.block[1]); });
        for (int axis = 0; axis < 3; ++axis) {
            all(Special(NTID_X + axis), in.block[axis]);
            all(Special(NCTAID_X + axis), in.grid[axis]);
        }
        all(CTAID_X, x), all(CTAID_Y, y), all(CTAID_Z, z);
        all(WARPID, w), all(NWARPID, warps), all(SMID, block % MULTIPROCESSORS);
        set(LANEID, [](u32 lane, u32) { return lane; });
        set(MASK_EQ, [](u32 lane, u32) { return 1u << lane; });
        set(MASK_LT, [](u32 lane, u32) { return (1u << lane) - 1; });
        set(MASK_LE, [](u32 lane, u32) { return ((1u << lane) - 1) | 1u << lane; });
        set(MASK_GT, [](u32 lane, u32) { return ~(((1u << lane) - 1) | 1u << lane); });
        set(MASK_GE, [](u32 lane, u32) { return ~((1u << lane) - 1); });
    }
    return in_block = true;
}

// All warps wait or have ended: let the block go on, or end it. False where that is not clean.
bool Machine::pass_barrier() {
    u32 pc = NONE, waiting = 0, alive = 0;
    for (const Warp &of : warp) {
        alive += std::popcount(of.alive);
        for (int g = 0; g < of.waiting; ++g) {
            if (pc != NONE && of.at_barrier[g].pc != pc) return fail(PARTED_AT_BARRIER, pc);
            pc = of.at_barrier[g].pc;
            waiting += std::popcount(of.at_barrier[g].mask);
        }
    }
    if (waiting == 0) {
        in_block = false, result.ended_blocks = ++block, result.ended_work = result.work;
        return true;
    }
    if (alive < threads) return fail(EXITED_BEFORE_BARRIER, pc);
    if (waiting < threads) return fail(STUCK, pc);
    if (in.ops[pc].code != CODE_barrier) count_votes(in.ops[pc]);
    interval_began = ++now;
    end_shared_reads();
    if (detecting && !shared_is_set)
        shared_is_set = !std::memchr(shared_set.data(), 0, in.shared_bytes);
    for (Warp &of : warp) {
        of.groups[0] = {pc + 1, of.alive};
        of.running = 1, of.waiting = 0, of.synchronised = now;
    }
    return true;
}

Status Machine::run(u64 operations) {
    if (result.status != RUNNING) return Status(result.status);
    const u64 slice = std::min(result.work + operations, in.budget);
    while (block < blocks) {
        if (!in_block) work_before = result.work, begin_block();
        if (result.work >= in.budget) return Status(result.status = OUT_OF_WORK);
        limit = std::min(slice, work_before + std::min(in.patience, in.budget));
        for (Warp &of : warp)
            while (of.running)
                if (!run_warp(of)) return status_of_pause();
        if (!pass_barrier()) return Status(result.status);
    }
    return Status(result.status = ENDED);
}

// Why a warp has stopped before its end or a barrier: for what it did, or for the operations of all.
Status Machine::status_of_pause() {
    if (result.status == RUNNING && result.work >= in.budget)
        result.status = OUT_OF_WORK;
    else if (result.status == RUNNING && result.work >= work_before + in.patience)
        result.status = PAUSED;
    return Status(result.status);
}

void Machine::go_on() {
    in.patience = in.budget;
    if (result.status == PAUSED) result.status = RUNNING;
}

u32 Machine::holding(const Warp &of, u32 offset, u32 mask) const {
    const u8 *holds = source(of, offset);
    u32 yes = 0;
    for (int eight = 0; eight < 4; ++eight) {  // the lowest bits of eight bytes, gathered by a product
        u64 bytes;
        std::memcpy(&bytes, holds + 8 * eight, 8);
        yes |= u32((bytes & 0x0101010101010101) * 0x0102040810204080 >> 56) << 8 * eight;
    }
    return yes & mask;
}

u32 Machine::guarded(const Op &op, const Warp &of, u32 mask) const {
    const u32 yes = holding(of, op.guard, mask);
    return op.guard_kind == 1 ? yes : mask & ~yes;
}

// Lanes that an operation of a warp waits for are all here, and each names itself.
bool Machine::everybody(const Op &op, const Warp &of, u32 mask) const {
    const u32 *named = reinterpret_cast<const u32 *>(source(of, op.more[0]));
    bool good = true;
    each(mask, [&](int lane) { good &= !(named[lane] & ~mask & of.alive) && (named[lane] >> lane & 1); });
    return good;
}

#include "execute.inc"
