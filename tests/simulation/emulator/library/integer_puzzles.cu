// Greatest common divisors, digit sums, powers modulo a prime, bit tricks: integer arithmetic of every kind.
__device__ unsigned gcd(unsigned a, unsigned b) {
    while (b) {
        unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

__device__ unsigned long long power(unsigned long long base, unsigned exponent, unsigned long long modulus) {
    unsigned long long result = 1;
    base %= modulus;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1) result = result * base % modulus;
        base = base * base % modulus;
    }
    return result;
}

__global__ void kernel(const int* a, const int* b, long long* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i], y = b[i] ? b[i] : 1, digits = 0;
    for (unsigned rest = abs(x); rest; rest /= 10) digits += rest % 10;
    long long* mine = out + 8 * i;
    mine[0] = gcd(abs(x), abs(y));
    mine[1] = digits;
    mine[2] = (long long)power(abs(x), i, 1000000007ull);
    mine[3] = x / y;
    mine[4] = x % y;
    mine[5] = (long long)x * y;
    mine[6] = __popc(x) + 100 * __clz(x) + 10000 * __ffs(y);
    mine[7] = (x >> 3) ^ ((unsigned)y << 5) ^ (min(x, y) + max(x, y)) ^ __mulhi(x, y);
}
