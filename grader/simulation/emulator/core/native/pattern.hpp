// Where the lanes of a warp access memory, seen from the first of them.
//
// An operation mostly has the same pattern again and again, at another address. So what follows from the
// pattern is found once: its extent, its alignment, sectors and bank conflicts.
#pragma once

#include <algorithm>
#include <type_traits>

#include "lanes.hpp"

class Pattern {
  public:
    u32 mask = 0;             // lanes that take part; 0: there was no access yet
    s32 relative[WARP] = {};  // bytes from the first lane that takes part; 0 of those that do not
    s32 low = 0, high = 0;    // of all that take part
    u32 bits = 0;             // set in any of them
    int step = -1;            // bytes from lane to lane in each eight of a whole warp; -1 where they differ
    u32 logged = 0;           // the number of the log of shared reads that refers to it
    u8 sectors[EIGHT] = {};   // by the word of a sector that the first address is in; 0: not counted yet
    u32 conflicts = 0, conflicts_of = NONE;  // and of which bytes of a word they are

    // True if the request has this pattern. Of addresses of 32 bits the differences wrap, as all that is made of them.
    template <typename A>
    bool is(u32 lanes, const A *address) const {
        using U = std::make_unsigned_t<A>;
        const A first = address[std::countr_zero(lanes)];
        U differs = mask ^ lanes;
        const auto compare = [&](int lane) { differs |= U(U(address[lane]) - U(first)) ^ U(A(relative[lane])); };
        if (lanes == NONE)
            for (int lane = 0; lane < WARP; ++lane) compare(lane);
        else
            each(lanes, compare);
        return !differs;
    }

    // Take over the addresses of a request; false where they are too far apart for it.
    template <typename A>
    bool take(u32 lanes, const A *address) {
        const A first = address[std::countr_zero(lanes)];
        bool fits = true;
        std::fill_n(relative, WARP, 0);
        each(lanes, [&](int lane) {
            const s64 distance = s64(u64(address[lane]) - u64(first));
            relative[lane] = s32(distance);
            fits &= distance == relative[lane];
        });
        mask = fits ? lanes : 0;
        low = high = 0, bits = 0, step = lanes == NONE ? relative[1] : -1;
        for (int lane = 0; lane < WARP; ++lane) {
            low = std::min(low, relative[lane]), high = std::max(high, relative[lane]), bits |= u32(relative[lane]);
            if (relative[lane] != relative[lane / EIGHT * EIGHT] + s64(step) * (lane % EIGHT)) step = -1;
        }
        std::fill_n(sectors, EIGHT, 0), conflicts_of = NONE;
        return fits;
    }
};

// The bytes that a warp accesses, in the memory of a state space.
struct Request {
    s64 origin;
    const s32 *relative;
    int step;  // as of a pattern
    s64 operator[](int lane) const { return origin + relative[lane]; }
};
