// Loops that wait. Those named ok_ come to their end, and nothing is wrong with them; those named endless_ never
// do. Each is launched as three blocks of one thread, those of every lane as one block of four.
#define KERNEL(name) extern "C" __global__ void name(int *d, int *f, int *o)
#define B ((int)blockIdx.x)
#define T ((int)threadIdx.x)
__device__ __noinline__ int ask(int *f) { return atomicAdd(f, 0); }
__device__ __noinline__ bool goes(int x, int b) { return x == b || x > 100; }
__device__ void next(int *f) { __threadfence(); atomicAdd(f, 1); }

KERNEL(ok_value_or_constant) { for (;;) { int x = atomicAdd(f, 0); if (x == B || B == 0) break; } next(f); }
KERNEL(ok_turn_or_one_block) { for (;;) { int x = atomicAdd(f, 0); if (x == B || gridDim.x == 1) break; } next(f); }
KERNEL(ok_or_of_and) { int i = T + 1; for (;;) { int x = atomicAdd(f, 0); if (x == B && (i >= 1 || x == 0)) break; } next(f); }
KERNEL(ok_ternary) { while (!(B ? atomicAdd(f, 0) == B : 1)) { } next(f); }
KERNEL(ok_switch) {
    bool go = false;
    while (!go) switch (atomicAdd(f, 0) - B) { case 0: go = true; break; case 7: go = B == 1; break; default: go = false; }
    next(f);
}
KERNEL(ok_helpers) { while (!goes(ask(f), B)) { } next(f); }
KERNEL(ok_do_while) { int x; do { x = atomicAdd(f, 0); } while (x != B && B != 0); next(f); }
KERNEL(ok_goto) { again: int x = atomicAdd(f, 0); if (x == B) goto done; if (B == 0) goto done; goto again; done: next(f); }
KERNEL(ok_rounds) {
    for (int r = 0; r < 2; r++) {
        for (;;) { int x = atomicAdd(f, 0); if (x == r * (int)gridDim.x + B || (r == 0 && B == 0)) break; }
        next(f);
    }
}
KERNEL(ok_two_breaks) { for (;;) { int x = atomicAdd(f, 0); if (x == B) break; if (x > 50) break; } next(f); }
KERNEL(ok_nested_break) { for (;;) { if (B < 5) { int x = atomicAdd(f, 0); if (x == B) break; } } next(f); }
KERNEL(ok_flag_in_a_variable) { bool done = false; while (!done) { if (atomicAdd(f, 0) == B) done = true; } next(f); }
KERNEL(ok_limited_tries) { for (int i = 0; i < 100000; i++) { int x = atomicAdd(f, 0); if (x == B || i > 90000) break; } next(f); }
KERNEL(ok_done_in_the_second_round) {
    bool done = false; int s = 0;
    do { for (int k = 0; k < 15; k++) s += d[k]; if (done) break; done = true; } while (true);
    o[B] = s;
}
KERNEL(ok_done_in_the_fourth_round) {
    int x = 0, y = 0, z = 0, n = 0;
    for (;;) { for (int k = 0; k < 15; k++) n += d[k]; if (x) break; x = y; y = z; z = 1; }
    o[B] = n;
}
KERNEL(ok_volatile_or) {
    volatile int *v = f;
    if (B == 0) { d[0] = 7; __threadfence(); v[0] = 2; }
    else {
        for (int i = 1; i < 2; i++) for (;;) { int x = v[0]; if (x == 1 || (x == 2 && i > 0)) break; }
        __threadfence(); o[B] = d[0];
    }
}
KERNEL(ok_flag_that_moves) {
    volatile int *v = f;
    if (B < 2) { d[B] = 5; __threadfence(); v[B] = 1; }
    else { int s = 0; for (int p = 0; p < 2;) { if (v[p] == 0) continue; __threadfence(); s += d[p]; p++; } o[0] = s; }
}
KERNEL(ok_look_back) {
    volatile int *v = f;
    if (B == 0) { d[0] = 1; __threadfence(); v[0] = 2; }
    else {
        d[16 + B] = 1; __threadfence(); v[B] = 1;
        int s = 0, p = B - 1;
        while (p >= 0) {
            int state = v[p];
            if (state == 0) continue;
            __threadfence();
            if (state == 2) { s += d[p]; break; }
            s += d[16 + p]; p--;
        }
        d[B] = s + 1; __threadfence(); v[B] = 2;
    }
}
KERNEL(ok_lock_of_every_lane) { bool done = false; while (!done) { if (atomicCAS(f, 0, 1) == 0) { __threadfence(); o[0] += 1; next(f + 1); atomicExch(f, 0); done = true; } } }
KERNEL(ok_naive_lock_of_every_lane) { while (atomicExch(f, 1) != 0) { } __threadfence(); o[0] += 1; __threadfence(); atomicExch(f, 0); }

KERNEL(endless_value_or_constant) { for (;;) { int x = atomicAdd(f, 0); if (x == 9 || B == 7) break; } }
KERNEL(endless_switch) { bool go = false; while (!go) switch (atomicAdd(f, 0)) { case 5: go = true; break; default: go = B == 9; } }
KERNEL(endless_helpers) { while (!goes(ask(f), 50)) { } }
KERNEL(endless_do_while) { int x; do { x = atomicAdd(f, 0); } while (x != 4 && B != 9); }
KERNEL(endless_goto) { again: int x = atomicAdd(f, 0); if (x == 3) goto done; if (B == 9) goto done; goto again; done: o[0] = 1; }
KERNEL(endless_ternary) { while (!(B ? atomicAdd(f, 0) == 9 : d[0] == 4)) { } }
KERNEL(endless_constants) { while (B < 100 || T > 9) { } o[0] = 1; }
KERNEL(endless_flag_in_a_variable) { bool done = false; while (!done) { if (atomicAdd(f, 0) == 9) done = true; } }
KERNEL(endless_flag_that_moves) { volatile int *v = f; int s = 0; for (int p = 0; p < 2;) { if (v[p] == 0) continue; s += d[p]; p++; } o[0] = s; }
KERNEL(endless_lock_not_given_back) { while (atomicExch(f, 1) != 0) { } }
KERNEL(endless_bisection) { int lo = 0, hi = 10; while (lo < hi) { int mid = (lo + hi) / 2; if (d[mid] <= 7) lo = mid; else hi = mid; } o[B] = lo; }
KERNEL(endless_two_exits) { for (;;) { if (atomicAdd(f, 0) == 5) break; if (B == 40) break; if (d[0] == 3) return; } }

KERNEL(racy_flag_that_moves) {
    volatile int *v = f;
    if (B < 2) { d[B] = 5; v[B] = 1; }
    else { int s = 0; for (int p = 0; p < 2;) { if (v[p] == 0) continue; s += d[p]; p++; } o[0] = s; }
}
