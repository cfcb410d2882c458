#include "memory_system.hpp"

#include <algorithm>
#include <bit>

namespace speed {

namespace {

constexpr f64 MOST_LOAD = 0.9;   // of its bandwidth, from which on a unit's queue grows no further
constexpr f64 SHORT = 1000.0;    // cycles in which loads are looked at, at least

f64 count(const Line *lines, std::size_t number) {
    u32 sectors = 0;
    for (std::size_t at = 0; at < number; ++at) sectors += u32(std::popcount(lines[at].sectors));
    return sectors;
}

f64 count(const std::vector<Line> &lines) { return count(lines.data(), lines.size()); }

// DRAM moves sectors in pairs.
f64 count_of_pairs(const std::vector<Line> &lines) {
    u32 sectors = 0;
    for (const Line &line : lines) sectors += (line.sectors & 3 ? 2 : 0) + (line.sectors & 12 ? 2 : 0);
    return sectors;
}

}  // namespace

Answer MemorySystem::shuffle(f64 time, f64 latency) {
    const f64 start = std::max(time, unit);
    unit = start + 1;
    busy[BUSY_SHARED] += 1;
    return {start + latency, start - time, SHARED, LATENCY};
}

Answer MemorySystem::access(f64 time, Kind kind, f64 latency, const Request &request, const Line *lines,
                            const s64 *words, const Asker &asker) {
    Answer got = answer(time, kind, latency, request, lines + request.line, asker);
    if (request.exchanges) {
        const f64 changed_at = exchange(got.done, asker.block, words + request.exchanged, request.exchanges);
        got.queue = got.queue + changed_at - got.done;
        got.done = changed_at;
    }
    return got;
}

// The time at which an exchange succeeds: a change of a word makes all others try again.
f64 MemorySystem::exchange(f64 done, s64 block, const s64 *words, u32 count) {
    const auto last_of = [&](s64 word) {
        const auto held = exchanged.find({block, word});
        return held == exchanged.end() ? -device.exchange_turn : held->second;
    };
    f64 last = last_of(words[0]);
    for (u32 at = 1; at < count; ++at) last = std::max(last, last_of(words[at]));
    done = std::max(done, last + device.exchange_turn);
    for (u32 at = 0; at < count; ++at) exchanged[{block, words[at]}] = done;
    return done;
}

Answer MemorySystem::answer(f64 time, Kind kind, f64 latency, const Request &request, const Line *lines,
                            const Asker &asker) {
    const f64 start = std::max(time, unit);
    unit = start + request.passes;
    const f64 queue = start - time + std::max(0.0, request.passes - 1);
    if (kind == UNIT_SHARED || kind == UNIT_LOCAL) {
        busy[BUSY_SHARED] += request.passes;
        return {unit + (latency != 0 ? latency : device.l1_latency) - 1, queue, SHARED, LATENCY};
    }
    busy[BUSY_L1] += request.passes;
    if (kind != UNIT_LOAD) write(start, request, lines, asker.shift);
    if (kind == UNIT_STORE) return {unit, queue, L2, MEMORY_LATENCY};
    if (kind == UNIT_LOAD)
        find_missing(request, lines, asker.shift);
    else
        missing.assign(lines, lines + request.lines);
    f64 arrival = unit + device.l1_latency - 1;
    if (!missing.empty()) {
        const Answer sent = fetch(start, request, asker);
        arrival = std::max(arrival, sent.done);
        unit += count(missing) * device.fill_sector;
        if (kind == UNIT_LOAD)
            for (const Line &line : missing) keep(line.number, line.sectors, arrival);
        if (sent.queue > queue) return {arrival, sent.queue, sent.queueing, MEMORY_LATENCY};
        return {arrival, queue, L1, MEMORY_LATENCY};
    }
    const f64 on_its_way = pending(request, lines, asker.shift);
    if (on_its_way > arrival) return {on_its_way, queue, L1, MEMORY_LATENCY};
    return {arrival, queue, L1, LATENCY};
}

// When the last of lines comes that L1 holds, or waits for.
f64 MemorySystem::pending(const Request &request, const Line *lines, s64 shift) const {
    f64 last = 0;
    for (u32 at = 0; at < request.lines; ++at) {
        const auto held = l1.find(lines[at].number + shift);
        if (held != l1.end()) last = std::max(last, held->second.arrival);
    }
    return last;
}

// The sectors that L1 does not hold; lines of which it holds any are those used last.
void MemorySystem::find_missing(const Request &request, const Line *lines, s64 shift) {
    missing.clear();
    for (u32 at = 0; at < request.lines; ++at) {
        const s64 number = lines[at].number + shift;
        const auto held = l1.find(number);
        if (held == l1.end()) {
            missing.push_back({number, lines[at].sectors, 0});
            continue;
        }
        order.splice(order.end(), order, held->second.place);
        const u32 absent = lines[at].sectors & ~held->second.sectors;
        if (absent) missing.push_back({number, absent, 0});
    }
}

void MemorySystem::keep(s64 line, u32 sectors, f64 arrival) {
    const auto held = l1.find(line);
    if (held != l1.end()) {
        held->second.sectors |= sectors;
        held->second.arrival = std::max(held->second.arrival, arrival);
        return;
    }
    order.push_back(line);
    l1[line] = {sectors, arrival, std::prev(order.end())};
    if (l1.size() > device.l1_lines) {
        l1.erase(order.front());
        order.pop_front();
    }
}

// L2 gathers what is written to a sector and sends it to DRAM once; where it lags behind, the unit waits.
void MemorySystem::write(f64 time, const Request &request, const Line *lines, s64 shift) {
    f64 cycles = std::max(request.written * device.write_share, request.hot);
    writes = std::max(writes, time) + cycles;
    busy[BUSY_L2] += cycles;
    const f64 stored = request.leaves * request.slower * (device.dram_write + request.filled);
    const f64 share = request.evicts * device.dram_write + stored;
    if (share > 0) {
        std::vector<Line> pairs(lines, lines + request.lines);
        for (Line &line : pairs) line.sectors = (line.sectors & 3 ? 3 : 0) | (line.sectors & 12 ? 12 : 0);
        find_first(pairs.data(), pairs.size(), shift, changed);
        cycles = count(anew) * device.dram_sector * share;
        dram = std::max(dram, time) + cycles;
        busy[BUSY_DRAM] += cycles;
    }
    unit = std::max(unit, std::max(writes, dram) - device.write_backlog);
}

// The sectors of lines that were never seen before; they are now.
void MemorySystem::find_first(const Line *lines, std::size_t number, s64 shift, Sectors &seen) {
    anew.clear();
    for (std::size_t at = 0; at < number; ++at) {
        u32 &before = seen[lines[at].number + shift];
        const u32 first = lines[at].sectors & ~before;
        if (first) anew.push_back({lines[at].number, first, 0});
        before |= first;
    }
}

// Of what DRAM sends several blocks once, the time when the first of them asked for it.
f64 MemorySystem::first_request_time(f64 time, const Request &request, const Asker &asker) {
    if (!request.together) return time;
    return asked.try_emplace({asker.shift, asker.warp, asker.request}, time).first->second;
}

// When the missing sectors have come: from L2, or from DRAM what this multiprocessor has not fetched before.
Answer MemorySystem::fetch(f64 time, const Request &request, const Asker &asker) {
    const f64 first = first_request_time(time, request, asker);
    f64 cycles = count(missing) * device.l2_sector;
    l2 = std::max(l2, time) + cycles;
    busy[BUSY_L2] += cycles;
    f64 moved = l2;
    find_first(missing.data(), missing.size(), asker.shift, fetched);
    if (request.dram > 0 && !anew.empty()) {
        const f64 sectors = count_of_pairs(anew) * request.dram;
        cycles = sectors * device.dram_sector * (request.slower + request.evicts * device.dram_write);
        dram = std::max(dram, time) + cycles;
        busy[BUSY_DRAM] += cycles;
        moved = std::max(dram, l2);
    }
    const f64 from_l2 = moved + device.l2_latency + device.l2_crowd * crowd(BUSY_L2, time);
    const f64 alone = device.dram_latency + device.dram_crowd * crowd(BUSY_DRAM, time);
    const f64 from_dram = std::max(from_l2, moved - time + first + alone);
    const f64 arrival = from_l2 + (anew.empty() ? 0.0 : request.late * (from_dram - from_l2));
    return {arrival, moved - time, moved > l2 ? DRAM : L2, MEMORY_LATENCY};
}

// How many others want the same part of L2 or DRAM on average, where requests come at random.
f64 MemorySystem::crowd(Unit of, f64 time) const {
    const f64 load = std::min(MOST_LOAD, busy[of] / std::max(time, SHORT));
    return load / (1 - load);
}

}  // namespace speed
