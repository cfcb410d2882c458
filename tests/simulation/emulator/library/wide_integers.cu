// Integers of 128 bits: the compiler's own type, and carries by hand in inline PTX.
__device__ ulonglong2 sum(ulonglong2 a, ulonglong2 b) {
    ulonglong2 c;
    asm("add.cc.u64 %0, %2, %4;\n\taddc.u64 %1, %3, %5;" : "=l"(c.x), "=l"(c.y) : "l"(a.x), "l"(a.y), "l"(b.x), "l"(b.y));
    return c;
}

__global__ void kernel(const ulonglong2* a, const ulonglong2* b, ulonglong2* sums, ulonglong2* products, unsigned long long* rests,
                       int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    sums[i] = sum(a[i], b[i]);
    unsigned __int128 x = (unsigned __int128)a[i].y << 64 | a[i].x, y = (unsigned __int128)b[i].y << 64 | b[i].x;
    unsigned __int128 product = x * y;
    products[i] = make_ulonglong2((unsigned long long)product, (unsigned long long)(product >> 64));
    unsigned long long prime = 0xffffffffffffffc5ull;
    unsigned __int128 square = (unsigned __int128)a[i].x * a[i].x;
    unsigned long long high = (unsigned long long)(square >> 64), low = (unsigned long long)square;
    unsigned __int128 folded = (unsigned __int128)high * 59 + low;
    folded = (folded >> 64) * 59 + (unsigned long long)folded;
    while (folded >= prime) folded -= prime;
    rests[i] = (unsigned long long)folded;
}
