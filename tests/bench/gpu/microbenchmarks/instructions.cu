// Throughput and latency of instructions that touch no memory, on one SM.
//
// Throughput: 32 warps, each with four independent chains. Latency: one warp with one chain.

#include "bench.cuh"

constexpr int kUnroll = 64;
constexpr int kRounds = 64;

// An operation: a type, and a step from x to the next x, with two values that do not change. COUNT is how
// many instructions of interest a step is.
#define OPERATION(NAME, TYPE, COUNT, BODY)                                          \
    struct NAME {                                                                   \
        using T = TYPE;                                                             \
        static constexpr int count = COUNT;                                         \
        static __device__ __forceinline__ void step(T& x, T& y, T a, T b) { BODY; } \
    };

#define F(TEXT) asm volatile(TEXT : "+f"(x), "+f"(y) : "f"(a), "f"(b))
#define D(TEXT) asm volatile(TEXT : "+d"(x), "+d"(y) : "d"(a), "d"(b))
#define R(TEXT) asm volatile(TEXT : "+r"(x), "+r"(y) : "r"(a), "r"(b))
#define L(TEXT) asm volatile(TEXT : "+l"(x), "+l"(y) : "l"(a), "l"(b))

OPERATION(FFMA, float, 1, F("fma.rn.f32 %0, %0, %2, %3;"))
OPERATION(FADD, float, 1, F("add.rn.f32 %0, %0, %2;"))
OPERATION(FMUL, float, 1, F("mul.rn.f32 %0, %0, %2;"))
OPERATION(FMNMX, float, 2, F("min.f32 %0, %0, %2; max.f32 %0, %0, %3;"))
OPERATION(DFMA, double, 1, D("fma.rn.f64 %0, %0, %2, %3;"))
OPERATION(DADD, double, 1, D("add.rn.f64 %0, %0, %2;"))
OPERATION(HFMA2, unsigned, 1, R("fma.rn.f16x2 %0, %0, %2, %3;"))
OPERATION(IMAD, unsigned, 1, R("mad.lo.u32 %0, %0, %2, %3;"))
OPERATION(IMAD_HI, unsigned, 1, R("mul.hi.u32 %0, %0, %2;"))
// Both halves are used, by an operation of the other pipe.
OPERATION(IMAD_WIDE_LOP3, unsigned, 1,
          asm volatile("{ .reg .u64 w; .reg .u32 l, h; mul.wide.s32 w, %0, 12; "
                       "mov.b64 {l, h}, w; xor.b32 %0, l, h; }" : "+r"(x)))
OPERATION(VIADD_LOP3, unsigned, 2, R("add.u32 %0, %0, %2; xor.b32 %0, %0, %3;"))
OPERATION(IADD3, unsigned, 2,
          R("add.u32 %0, %0, %1; add.u32 %0, %0, %2; add.u32 %1, %1, %0; add.u32 %1, %1, %3;"))
OPERATION(LOP3, unsigned, 1, R("lop3.b32 %0, %0, %2, %3, 0x6a;"))
OPERATION(SHF, unsigned, 1, R("shf.l.wrap.b32 %0, %0, %2, %3;"))
OPERATION(SHL, unsigned, 2, R("shl.b32 %0, %0, %2; xor.b32 %0, %0, %3;"))
OPERATION(PRMT, unsigned, 1, R("prmt.b32 %0, %0, %2, %3;"))
OPERATION(VIMNMX, unsigned, 2, R("min.s32 %0, %0, %2; max.s32 %0, %0, %3;"))
OPERATION(POPC, unsigned, 1, R("popc.b32 %0, %0;"))
OPERATION(FLO, unsigned, 1, R("bfind.u32 %0, %0;"))
OPERATION(BREV, unsigned, 1, R("brev.b32 %0, %0;"))
OPERATION(ISETP_SEL, unsigned, 2, R("{ .reg .pred p; setp.lt.s32 p, %0, %2; selp.b32 %0, %3, %0, p; }"))
OPERATION(FSETP_FSEL, float, 2, F("{ .reg .pred p; setp.lt.f32 p, %0, %2; selp.f32 %0, %3, %0, p; }"))
// The reciprocal of a reciprocal would be left out, so an addition parts them; the latency has both.
OPERATION(MUFU_RCP_FADD, float, 1, F("rcp.approx.ftz.f32 %0, %0; add.rn.f32 %0, %0, %2;"))
OPERATION(MUFU_EX2, float, 1, F("ex2.approx.ftz.f32 %0, %0;"))
OPERATION(MUFU_LG2, float, 1, F("lg2.approx.ftz.f32 %0, %0;"))
OPERATION(MUFU_RSQ, float, 1, F("rsqrt.approx.ftz.f32 %0, %0;"))
OPERATION(MUFU_SIN, float, 1, F("sin.approx.ftz.f32 %0, %0;"))
OPERATION(I2F_F2I, unsigned, 2,
          asm volatile("{ .reg .f32 f; cvt.rn.f32.s32 f, %0; cvt.rzi.s32.f32 %0, f; }" : "+r"(x)))
OPERATION(F2F_64, float, 2,
          asm volatile("{ .reg .f64 d; cvt.f64.f32 d, %0; cvt.rn.f32.f64 %0, d; }" : "+f"(x)))
OPERATION(SHFL_IDX, unsigned, 1, R("shfl.sync.idx.b32 %0, %0, %1, 0x1f, 0xffffffff;"))
OPERATION(SHFL_DOWN, unsigned, 1, R("shfl.sync.down.b32 %0, %0, 1, 0x1f, 0xffffffff;"))
OPERATION(SHFL_BFLY, unsigned, 1, R("shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;"))
OPERATION(VOTE, unsigned, 2,
          R("{ .reg .pred p; setp.lt.s32 p, %0, %2; vote.sync.ballot.b32 %0, p, 0xffffffff; }"))
// Half of them become S2UR, to a uniform register.
OPERATION(S2R, unsigned, 1, R("{ .reg .u32 s; mov.u32 s, %%smid; xor.b32 %0, %0, s; }"))
OPERATION(MATCH, unsigned, 1, R("match.any.sync.b32 %0, %0, 0xffffffff;"))
OPERATION(REDUX, unsigned, 1, R("redux.sync.add.u32 %0, %0, 0xffffffff;"))

// Mixes: as many of the one as of the other, on values of their own.
OPERATION(MIX_FFMA_IMAD, float, 2,
          asm volatile("fma.rn.f32 %0, %0, %2, %3; { .reg .b32 u; mov.b32 u, %1; "
                       "mad.lo.u32 u, u, %4, %5; mov.b32 %1, u; }" : "+f"(x),
                       "+f"(y) : "f"(a), "f"(b), "r"(__float_as_int(a)), "r"(__float_as_int(b))))
OPERATION(MIX_FFMA_IADD_LOP3, float, 3,
          asm volatile("fma.rn.f32 %0, %0, %2, %3; { .reg .b32 u; mov.b32 u, %1; "
                       "add.u32 u, u, %4; xor.b32 u, u, %5; mov.b32 %1, u; }" : "+f"(x),
                       "+f"(y) : "f"(a), "f"(b), "r"(__float_as_int(a)), "r"(__float_as_int(b))))
OPERATION(MIX_FFMA_LOP3, float, 2,
          asm volatile("fma.rn.f32 %0, %0, %2, %3; { .reg .b32 u; mov.b32 u, %1; "
                       "lop3.b32 u, u, %4, %5, 0x6a; mov.b32 %1, u; }" : "+f"(x),
                       "+f"(y) : "f"(a), "f"(b), "r"(__float_as_int(a)), "r"(__float_as_int(b))))
OPERATION(MIX_IMAD_LOP3, unsigned, 2, R("mad.lo.u32 %0, %0, %2, %3; lop3.b32 %1, %1, %2, %3, 0x6a;"))
OPERATION(MIX_FFMA_FADD, float, 2, F("fma.rn.f32 %0, %0, %2, %3; add.rn.f32 %1, %1, %2;"))
OPERATION(MIX_FFMA_FMNMX, float, 3, F("fma.rn.f32 %0, %0, %2, %3; min.f32 %1, %1, %2; max.f32 %1, %1, %3;"))
OPERATION(MIX_4FFMA_MUFU, float, 5,
          F("fma.rn.f32 %0, %0, %2, %3; fma.rn.f32 %0, %0, %2, %3; fma.rn.f32 %0, %0, %2, %3; "
            "fma.rn.f32 %0, %0, %2, %3; ex2.approx.ftz.f32 %1, %1;"))

template <class Op, int kChains>
__global__ void run(Stamps stamps, int rounds, typename Op::T a, typename Op::T b, typename Op::T* out) {
    using T = typename Op::T;
    T x[kChains], y[kChains];
    for (int i = 0; i < kChains; ++i) {
        x[i] = (T)(threadIdx.x + i + 1);
        y[i] = (T)(threadIdx.x + 2 * i + 3);
    }
    __syncthreads();
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < kUnroll; ++i) {
#pragma unroll
            for (int chain = 0; chain < kChains; ++chain) Op::step(x[chain], y[chain], a, b);
        }
    }
    long long end = stamp();
    note(stamps, begin, end);
    T sum = 0;
    for (int i = 0; i < kChains; ++i) sum += x[i] + y[i];
    out[threadIdx.x] = sum;
}

// A loop of one multiply-add that nothing unrolls: what its counter, comparison and branch cost.
__global__ void loop(Stamps stamps, int rounds, float a, float b, float* out) {
    float x = threadIdx.x;
    __syncthreads();
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round)
        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
    long long end = stamp();
    note(stamps, begin, end);
    out[threadIdx.x] = x;
}

// The same with a counter of each thread's own, in ordinary registers instead of uniform ones.
__global__ void own_loop(Stamps stamps, int rounds, float a, float b, float* out) {
    float x = threadIdx.x;
    int stop = rounds * 2 + threadIdx.x;
    __syncthreads();
    long long begin = stamp();
#pragma unroll 1
    for (int round = threadIdx.x; round < stop; round += 2)
        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
    long long end = stamp();
    note(stamps, begin, end);
    out[threadIdx.x] = x;
}

// The same where half of the lanes leave after half of the rounds.
__global__ void divergent_loop(Stamps stamps, int rounds, float a, float b, float* out) {
    float x = threadIdx.x;
    int own = rounds * (threadIdx.x % 2 + 1) / 2;
    __syncthreads();
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < own; ++round)
        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
    long long end = stamp();
    note(stamps, begin, end);
    out[threadIdx.x] = x;
}

// An if with two sides of four instructions each, taken by half of the lanes: what parting and meeting cost.
__global__ void parting(Stamps stamps, int rounds, float a, float b, float* out) {
    float x = threadIdx.x;
    __syncthreads();
    long long begin = stamp();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        if ((threadIdx.x + round) & 1) {
            asm volatile(
                "fma.rn.f32 %0, %0, %1, %2; fma.rn.f32 %0, %0, %1, %2; fma.rn.f32 %0, %0, %1, %2; "
                "fma.rn.f32 %0, %0, %1, %2; "
                : "+f"(x)
                : "f"(a), "f"(b));
        } else {
            asm volatile(
                "mul.rn.f32 %0, %0, %1; mul.rn.f32 %0, %0, %2; mul.rn.f32 %0, %0, %1; "
                "mul.rn.f32 %0, %0, %2;"
                : "+f"(x)
                : "f"(a), "f"(b));
        }
    }
    long long end = stamp();
    note(stamps, begin, end);
    out[threadIdx.x] = x;
}

template <class Op>
void measure(const char* name, Stamps stamps, void* out) {
    using T = typename Op::T;
    T a = (T)3, b = (T)5;
    double per_round = double(kUnroll) * Op::count;
    double full = cycles(stamps, 32, [&] { run<Op, 4><<<1, 1024>>>(stamps, kRounds, a, b, (T*)out); });
    double alone = cycles(stamps, 1, [&] { run<Op, 1><<<1, 32>>>(stamps, kRounds, a, b, (T*)out); });
    report(std::string(name) + ".throughput", full / (32 * 4 * kRounds * per_round),
           "cycles/warp instruction/SM");
    report(std::string(name) + ".latency", alone / (kRounds * per_round), "cycles/instruction of a chain");
}

#define MEASURE(NAME) measure<NAME>(#NAME, stamps, out)

int main() {
    Stamps stamps = make_stamps();
    void* out;
    CHECK(cudaMalloc(&out, 1024 * 8));
    MEASURE(FFMA);
    MEASURE(FADD);
    MEASURE(FMUL);
    MEASURE(FMNMX);
    MEASURE(DFMA);
    MEASURE(DADD);
    MEASURE(HFMA2);
    MEASURE(IMAD);
    MEASURE(IMAD_HI);
    MEASURE(IMAD_WIDE_LOP3);
    MEASURE(IADD3);
    MEASURE(VIADD_LOP3);
    MEASURE(LOP3);
    MEASURE(SHF);
    MEASURE(SHL);
    MEASURE(PRMT);
    MEASURE(VIMNMX);
    MEASURE(POPC);
    MEASURE(FLO);
    MEASURE(BREV);
    MEASURE(ISETP_SEL);
    MEASURE(FSETP_FSEL);
    MEASURE(MUFU_RCP_FADD);
    MEASURE(MUFU_EX2);
    MEASURE(MUFU_LG2);
    MEASURE(MUFU_RSQ);
    MEASURE(MUFU_SIN);
    MEASURE(I2F_F2I);
    MEASURE(F2F_64);
    MEASURE(SHFL_IDX);
    MEASURE(SHFL_DOWN);
    MEASURE(SHFL_BFLY);
    MEASURE(VOTE);
    MEASURE(S2R);
    MEASURE(MATCH);
    MEASURE(REDUX);
    MEASURE(MIX_FFMA_IMAD);
    MEASURE(MIX_FFMA_IADD_LOP3);
    MEASURE(MIX_FFMA_LOP3);
    MEASURE(MIX_IMAD_LOP3);
    MEASURE(MIX_FFMA_FADD);
    MEASURE(MIX_FFMA_FMNMX);
    MEASURE(MIX_4FFMA_MUFU);
    const int rounds = 4096;
    auto looped = [&](const char* name, auto kernel) {
        for (int warps : {1, 4, 8, 16, 32}) {
            double took =
                cycles(stamps, warps, [&] { kernel<<<1, 32 * warps>>>(stamps, rounds, 3, 5, (float*)out); });
            report(std::string(name) + ".warps_" + std::to_string(warps), took / rounds, "cycles/round");
        }
    };
    looped("loop_of_one_ffma", loop);
    looped("loop_of_one_ffma_own_counter", own_loop);
    looped("loop_that_half_the_lanes_leave", divergent_loop);
    looped("if_with_two_sides_of_four", parting);
    return 0;
}
