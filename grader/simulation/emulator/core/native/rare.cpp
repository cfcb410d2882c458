// Instructions of `rare.inc`, each as a function of its own.
#include "machine.hpp"

#include "codes.hpp"
#include "halves.hpp"
#include "lanes.hpp"

namespace {

template <typename D, typename F>
[[gnu::noinline]] void fill(u8 *to, u32 mask, F value) {
    using S = typename Stored<D>::type;
    S *lanes = reinterpret_cast<S *>(to);
    for (; mask; mask &= mask - 1) {
        const int lane = std::countr_zero(mask);
        lanes[lane] = S(D(value(lane)));
    }
}

}  // namespace

#define PURE1(name, D, A, expression)                                                  \
    case CODE_##name:                                                                  \
        return fill<D>(to, mask, [=](int lane) -> D {                                  \
            const A x = lane_of<A>(pa, lane);                                          \
            return D(expression);                                                      \
        });
#define PURE2(name, D, A, B, expression)                                               \
    case CODE_##name:                                                                  \
        return fill<D>(to, mask, [=](int lane) -> D {                                  \
            const A x = lane_of<A>(pa, lane);                                          \
            const B y = lane_of<B>(pb, lane);                                          \
            return D(expression);                                                      \
        });
#define PURE3(name, D, A, B, C, expression)                                            \
    case CODE_##name:                                                                  \
        return fill<D>(to, mask, [=](int lane) -> D {                                  \
            const A x = lane_of<A>(pa, lane);                                          \
            const B y = lane_of<B>(pb, lane);                                          \
            const C z = lane_of<C>(pc, lane);                                          \
            return D(expression);                                                      \
        });

void Machine::compute_rare(const Op &op, Warp &of, u32 mask) {
    const u8 *pa = source(of, op.a), *pb = source(of, op.b), *pc = source(of, op.c);
    u8 *to = of.registers + op.dst;
    switch (op.code) {
#include "rare.inc"
    }
}
