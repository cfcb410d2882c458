// One launch: blocks one after the other, and of a block the warps one after the other up to its barriers.
#pragma once

#include <memory>
#include <vector>

#include "core.hpp"
#include "pattern.hpp"
#include "shadow.hpp"

struct Group {
    u32 pc, mask;
};

struct Warp {
    u8 *registers;
    u32 alive;
    u32 synchronised;  // the moment of the last `__syncwarp`, or of the barrier
    u16 number;
    u16 rounds;        // strong accesses one after another that gave the same as the one before, see `goes_on`
    u64 last_access;   // what the last strong access was, and gave
    int running, waiting;
    Group groups[WARP], at_barrier[WARP];
};

// Reads of shared memory since the last barrier. Most intervals have no write, and then nothing is done with them.
struct SharedReads {
    struct Read {
        Moment at;
        u32 op, thread;  // the operation whose pattern it has, and the first thread of its warp
        s32 origin, size;
    };
    static constexpr std::size_t MOST = 4096;
    std::vector<Read> log;
    u32 number = 1;      // of the log, which changes with its end
    u32 last_write = 0;  // the moment of the last write to shared memory
};

class Machine {
  public:
    explicit Machine(const LaunchInput &input);
    Status run(u64 operations);
    void go_on();  // after a pause, without another one
    Result result{};

  private:
    bool begin_block();
    Status status_of_pause();
    bool pass_barrier();
    bool run_warp(Warp &warp);
    bool fail(Reason reason, u32 op);
    u32 guarded(const Op &op, const Warp &warp, u32 mask) const;
    const u8 *source(const Warp &warp, u32 offset) const {
        return offset & CONSTANT ? in.constants + (offset & ~CONSTANT) : warp.registers + offset;
    }
    bool access(const Op &op, u32 pc, Warp &warp, u32 mask, Way way);
    bool resolve(const Op &op, u32 pc, Warp &warp, u32 mask, Way way, Space &space, Request &at);
    bool in_arrays(u32 pc, Warp &warp, u32 mask, Way way, const Request &at, s64 low, s64 high, int size);
    bool in_array(int which, u32 pc, Warp &warp, u32 mask, Way way, const Request &at, int size);
    void touch(u32 mask, Way way, const Request &at, int size);
    bool is_set(u8 *set, const Request &at, u32 mask, int size, Way way);
    bool follow_shared(const Warp &warp, u32 pc, u32 mask, const Request &at, int size, Way way);
    void mark_shared_reads();
    void end_shared_reads();
    bool follow(Shadow &shadow, const Warp &warp, u32 mask, const Request &at, s64 first, int size, Way way,
                bool between_blocks);
    int array_of(s64 low, s64 end) const;
    template <bool STORE, int SIZE>
    void transfer(const Op &op, Warp &warp, u32 mask, u8 *memory, const Request &at, int part);
    void move(const Op &op, Warp &warp, u32 mask, bool is_store, u8 *memory, const Request &at, int part);
    bool update(const Op &op, Warp &warp, u32 mask, u8 *memory, const Request &at, bool flushes);
    bool goes_on(Warp &warp, u32 pc, bool changes, u64 values);
    void count(const Op &op, u32 pc, u32 mask, Space space, const Request &at, Way way, int part);
    u32 sectors(u32 pc, const Request &at);
    u32 bank_conflicts(u32 pc, const Request &at, int size);
    bool exchange(const Op &op, u32 pc, Warp &warp, u32 mask);
    void compute_rare(const Op &op, Warp &warp, u32 mask);
    bool matched(const Op &op, Warp &warp, u32 mask);
    bool reduced(const Op &op, Warp &warp, u32 mask);
    void count_votes(const Op &op);
    bool everybody(const Op &op, const Warp &warp, u32 mask) const;
    u32 holding(const Warp &warp, u32 offset, u32 mask) const;

    LaunchInput in;
    bool counting, detecting;
    u32 threads, warps;
    u64 blocks, block = 0, limit = 0, work_before = 0;  // operations before the block
    bool in_block = false;
    u32 now = 0, block_began = 0, interval_began = 0;
    std::vector<Warp> warp;
    std::unique_ptr<u8[]> registers;  // as they come: no lane reads a register that it has not set (`registers.py`)
    std::vector<u8> shared, shared_set, local, local_set;
    std::vector<Pattern> patterns;  // of the last request of each operation
    s32 local_relative[WARP];
    Shadow shared_shadow;
    SharedReads shared_reads;
    bool shared_is_set = false;  // every byte of the block's shared memory holds a value
    std::vector<Shadow> array_shadows;
    std::vector<u8> was_read;
    mutable int last_array = 0;
};
