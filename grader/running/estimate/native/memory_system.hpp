// The memory that a multiprocessor sees, as `memory_system.py` describes it.
#pragma once

#include <list>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "numbers.hpp"

namespace speed {

// Each struct is mirrored in `native_simulation.py`, in the same order.
struct Device {
    f64 l2_sector, dram_sector;  // cycles that a sector takes of this multiprocessor's share of L2 and of DRAM
    f64 write_share;
    f64 l1_latency, l2_latency, dram_latency, l2_crowd, dram_crowd, dram_write;
    f64 fill_sector, write_backlog, queue, exchange_turn;
    f64 barrier_base, barrier_per_warp, barrier_arrival, branch, block_gap;
    u64 l1_lines;
};

struct Line {
    s64 number;
    u32 sectors;  // as bits
    u32 unused;
};

struct Request {
    f64 passes, dram, late, evicts, leaves, filled, slower, written, hot;
    u32 line, lines;            // the first of its lines, and how many there are
    u32 exchanged, exchanges;   // the same of the words that it exchanges
    u32 together, unused;
};

// In the order of `KINDS`; those of a unit go through that of loads and stores.
enum Kind : u32 {
    NO_UNIT, UNIT_SHARED, UNIT_LOCAL, UNIT_LOAD, UNIT_STORE, UNIT_ATOMIC, UNIT_SHUFFLE, BARRIER, BRANCH, VARIABLE,
};

// What a warp waits for, in the order of `CAUSES`.
enum Cause : u32 {
    NO_CAUSE, ISSUE, SHARED, L1, L2, DRAM, MEMORY_LATENCY, LATENCY, AT_BARRIER, ARITHMETIC, PIPES,
};

struct Asker {
    s64 block, warp, request, shift;
};

// When an access is done, how long it stood in a queue, and the cause of that and of the rest.
struct Answer {
    f64 done, queue;
    u32 queueing, waiting;
};

enum Unit : u32 { BUSY_SHARED, BUSY_L1, BUSY_L2, BUSY_DRAM, UNITS };

class MemorySystem {
  public:
    explicit MemorySystem(const Device &of) : device(of) {}

    Answer shuffle(f64 time, f64 latency);
    Answer access(f64 time, Kind kind, f64 latency, const Request &request, const Line *lines, const s64 *words,
                  const Asker &asker);

    f64 unit = 0;  // until when the unit of loads and stores is busy
    f64 busy[UNITS] = {};

  private:
    struct Held {
        u32 sectors;
        f64 arrival;
        std::list<s64>::iterator place;
    };
    using Sectors = std::unordered_map<s64, u32>;

    Answer answer(f64 time, Kind kind, f64 latency, const Request &request, const Line *lines, const Asker &asker);
    Answer fetch(f64 time, const Request &request, const Asker &asker);
    f64 exchange(f64 done, s64 block, const s64 *words, u32 count);
    f64 pending(const Request &request, const Line *lines, s64 shift) const;
    void find_missing(const Request &request, const Line *lines, s64 shift);
    void keep(s64 line, u32 sectors, f64 arrival);
    void write(f64 time, const Request &request, const Line *lines, s64 shift);
    void find_first(const Line *lines, std::size_t count, s64 shift, Sectors &seen);
    f64 first_request_time(f64 time, const Request &request, const Asker &asker);
    f64 crowd(Unit of, f64 time) const;

    Device device;
    std::list<s64> order;  // the lines of L1, those used last at the end
    std::unordered_map<s64, Held> l1;
    Sectors fetched, changed;
    std::map<std::tuple<s64, s64, s64>, f64> asked;
    std::map<std::pair<s64, s64>, f64> exchanged;
    f64 l2 = 0, dram = 0, writes = 0;
    std::vector<Line> missing, anew;  // of the access at hand
};

}  // namespace speed
