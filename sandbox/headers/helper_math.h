// What programs written like NVIDIA's samples take from their `helper_math.h`: arithmetic on vectors of two to four
// numbers, on the host and on the device.
#ifndef GRADER_HELPER_MATH_H
#define GRADER_HELPER_MATH_H

#include <cuda_runtime.h>

#include <cmath>
#include <cstdlib>

typedef unsigned int uint;
typedef unsigned short ushort;

#define GRADER_BOTH inline __host__ __device__

#ifndef __CUDACC__
inline float fminf(float a, float b) { return a < b ? a : b; }
inline float fmaxf(float a, float b) { return a > b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline int min(int a, int b) { return a < b ? a : b; }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
#endif

// Each vector of one number repeated, of fewer numbers and more, and of another type's numbers.
#define GRADER_VECTORS(V, real)                                                                                      \
    GRADER_BOTH V##2 make_##V##2(real s) { return make_##V##2(s, s); }                                               \
    GRADER_BOTH V##2 make_##V##2(V##3 a) { return make_##V##2(a.x, a.y); }                                           \
    GRADER_BOTH V##3 make_##V##3(real s) { return make_##V##3(s, s, s); }                                            \
    GRADER_BOTH V##3 make_##V##3(V##2 a) { return make_##V##3(a.x, a.y, 0); }                                        \
    GRADER_BOTH V##3 make_##V##3(V##2 a, real s) { return make_##V##3(a.x, a.y, s); }                                \
    GRADER_BOTH V##3 make_##V##3(V##4 a) { return make_##V##3(a.x, a.y, a.z); }                                      \
    GRADER_BOTH V##4 make_##V##4(real s) { return make_##V##4(s, s, s, s); }                                         \
    GRADER_BOTH V##4 make_##V##4(V##3 a) { return make_##V##4(a.x, a.y, a.z, 0); }                                   \
    GRADER_BOTH V##4 make_##V##4(V##3 a, real w) { return make_##V##4(a.x, a.y, a.z, w); }
GRADER_VECTORS(float, float)
GRADER_VECTORS(int, int)
GRADER_VECTORS(uint, uint)

#define GRADER_CONVERTED(V, W, real)                                                                                 \
    GRADER_BOTH V##2 make_##V##2(W##2 a) { return make_##V##2(real(a.x), real(a.y)); }                               \
    GRADER_BOTH V##3 make_##V##3(W##3 a) { return make_##V##3(real(a.x), real(a.y), real(a.z)); }                    \
    GRADER_BOTH V##4 make_##V##4(W##4 a) { return make_##V##4(real(a.x), real(a.y), real(a.z), real(a.w)); }
GRADER_CONVERTED(float, int, float)
GRADER_CONVERTED(int, float, int)
GRADER_CONVERTED(int, uint, int)
GRADER_CONVERTED(uint, int, uint)

// An operation for each element, with a vector and with a number on either side.
#define GRADER_OPERATOR(V, real, op)                                                                                 \
    GRADER_BOTH V##2 operator op(V##2 a, V##2 b) { return make_##V##2(a.x op b.x, a.y op b.y); }                     \
    GRADER_BOTH V##3 operator op(V##3 a, V##3 b) { return make_##V##3(a.x op b.x, a.y op b.y, a.z op b.z); }         \
    GRADER_BOTH V##4 operator op(V##4 a, V##4 b) {                                                                   \
        return make_##V##4(a.x op b.x, a.y op b.y, a.z op b.z, a.w op b.w);                                          \
    }                                                                                                                \
    GRADER_BOTH V##2 operator op(V##2 a, real b) { return a op make_##V##2(b); }                                     \
    GRADER_BOTH V##3 operator op(V##3 a, real b) { return a op make_##V##3(b); }                                     \
    GRADER_BOTH V##4 operator op(V##4 a, real b) { return a op make_##V##4(b); }                                     \
    GRADER_BOTH V##2 operator op(real a, V##2 b) { return make_##V##2(a) op b; }                                     \
    GRADER_BOTH V##3 operator op(real a, V##3 b) { return make_##V##3(a) op b; }                                     \
    GRADER_BOTH V##4 operator op(real a, V##4 b) { return make_##V##4(a) op b; }                                     \
    GRADER_BOTH void operator op##=(V##2 &a, V##2 b) { a = a op b; }                                                 \
    GRADER_BOTH void operator op##=(V##3 &a, V##3 b) { a = a op b; }                                                 \
    GRADER_BOTH void operator op##=(V##4 &a, V##4 b) { a = a op b; }                                                 \
    GRADER_BOTH void operator op##=(V##2 &a, real b) { a = a op b; }                                                 \
    GRADER_BOTH void operator op##=(V##3 &a, real b) { a = a op b; }                                                 \
    GRADER_BOTH void operator op##=(V##4 &a, real b) { a = a op b; }
#define GRADER_OPERATORS(V, real)                                                                                    \
    GRADER_OPERATOR(V, real, +)                                                                                      \
    GRADER_OPERATOR(V, real, -)                                                                                      \
    GRADER_OPERATOR(V, real, *)                                                                                      \
    GRADER_OPERATOR(V, real, /)
GRADER_OPERATORS(float, float)
GRADER_OPERATORS(int, int)
GRADER_OPERATORS(uint, uint)

#define GRADER_NEGATED(V)                                                                                            \
    GRADER_BOTH V##2 operator-(V##2 a) { return make_##V##2(-a.x, -a.y); }                                           \
    GRADER_BOTH V##3 operator-(V##3 a) { return make_##V##3(-a.x, -a.y, -a.z); }                                     \
    GRADER_BOTH V##4 operator-(V##4 a) { return make_##V##4(-a.x, -a.y, -a.z, -a.w); }
GRADER_NEGATED(float)
GRADER_NEGATED(int)

// A function of each element.
#define GRADER_OF_ONE(name, V, f)                                                                                    \
    GRADER_BOTH V##2 name(V##2 a) { return make_##V##2(f(a.x), f(a.y)); }                                            \
    GRADER_BOTH V##3 name(V##3 a) { return make_##V##3(f(a.x), f(a.y), f(a.z)); }                                    \
    GRADER_BOTH V##4 name(V##4 a) { return make_##V##4(f(a.x), f(a.y), f(a.z), f(a.w)); }
#define GRADER_OF_TWO(name, V, f)                                                                                    \
    GRADER_BOTH V##2 name(V##2 a, V##2 b) { return make_##V##2(f(a.x, b.x), f(a.y, b.y)); }                          \
    GRADER_BOTH V##3 name(V##3 a, V##3 b) { return make_##V##3(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z)); }             \
    GRADER_BOTH V##4 name(V##4 a, V##4 b) {                                                                          \
        return make_##V##4(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w));                                      \
    }
GRADER_BOTH float fracf(float x) { return x - floorf(x); }
GRADER_OF_ONE(floorf, float, floorf)
GRADER_OF_ONE(fracf, float, fracf)
GRADER_OF_ONE(fabs, float, fabsf)
GRADER_OF_ONE(abs, int, abs)
GRADER_OF_TWO(fminf, float, fminf)
GRADER_OF_TWO(fmaxf, float, fmaxf)
GRADER_OF_TWO(fmodf, float, fmodf)
GRADER_OF_TWO(min, int, min)
GRADER_OF_TWO(max, int, max)
GRADER_OF_TWO(min, uint, min)
GRADER_OF_TWO(max, uint, max)

GRADER_BOTH float lerp(float a, float b, float t) { return a + t * (b - a); }
GRADER_BOTH float clamp(float v, float low, float high) { return fmaxf(low, fminf(v, high)); }
GRADER_BOTH int clamp(int v, int low, int high) { return max(low, min(v, high)); }
GRADER_BOTH uint clamp(uint v, uint low, uint high) { return max(low, min(v, high)); }
GRADER_BOTH float smoothstep(float a, float b, float x) {
    float t = clamp((x - a) / (b - a), 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

#define GRADER_CLAMPED(V, real, least, most)                                                                         \
    GRADER_BOTH V clamp(V v, V low, V high) { return most(low, least(v, high)); }                                    \
    GRADER_BOTH V clamp(V v, real low, real high) { return clamp(v, make_##V(low), make_##V(high)); }
#define GRADER_ALL_CLAMPED(V, real, least, most)                                                                     \
    GRADER_CLAMPED(V##2, real, least, most)                                                                          \
    GRADER_CLAMPED(V##3, real, least, most)                                                                          \
    GRADER_CLAMPED(V##4, real, least, most)
GRADER_ALL_CLAMPED(float, float, fminf, fmaxf)
GRADER_ALL_CLAMPED(int, int, min, max)
GRADER_ALL_CLAMPED(uint, uint, min, max)

#define GRADER_SUMS(V, real)                                                                                         \
    GRADER_BOTH real dot(V##2 a, V##2 b) { return a.x * b.x + a.y * b.y; }                                           \
    GRADER_BOTH real dot(V##3 a, V##3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }                               \
    GRADER_BOTH real dot(V##4 a, V##4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
GRADER_SUMS(float, float)
GRADER_SUMS(int, int)
GRADER_SUMS(uint, uint)

#define GRADER_LENGTHS(V)                                                                                            \
    GRADER_BOTH V lerp(V a, V b, float t) { return a + t * (b - a); }                                                \
    GRADER_BOTH float length(V v) { return sqrtf(dot(v, v)); }                                                       \
    GRADER_BOTH V normalize(V v) { return v * rsqrtf(dot(v, v)); }                                                   \
    GRADER_BOTH V smoothstep(V a, V b, V x) {                                                                        \
        V t = clamp((x - a) / (b - a), 0.0f, 1.0f);                                                                  \
        return t * t * (3.0f - 2.0f * t);                                                                            \
    }
GRADER_LENGTHS(float2)
GRADER_LENGTHS(float3)
GRADER_LENGTHS(float4)

GRADER_BOTH float3 reflect(float3 i, float3 n) { return i - 2.0f * n * dot(n, i); }
GRADER_BOTH float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

#endif
