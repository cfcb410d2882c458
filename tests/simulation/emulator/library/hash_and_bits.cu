// Checksums, hashes and bit tricks: a CRC, MurmurHash's finish, Morton codes, byte permutations, funnel shifts.
__device__ unsigned crc(const unsigned char* bytes, int count) {
    unsigned sum = ~0u;
    for (int i = 0; i < count; ++i) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (0xedb88320u & -(sum & 1));
    }
    return ~sum;
}

__device__ unsigned spread(unsigned x) {
    x &= 0xffff;
    x = (x | x << 8) & 0x00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f;
    x = (x | x << 2) & 0x33333333;
    return (x | x << 1) & 0x55555555;
}

__global__ void kernel(const unsigned char* records, int length, const unsigned* words, uint4* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned h = words[i], turned = words[i];
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    h ^= h >> 16;
    turned = __byte_perm(turned, h, 0x1640) ^ __brev(turned) ^ __funnelshift_l(turned, h, i);
    unsigned least = __ffs(turned) + 100 * __clz(turned) + 10000 * __popc(turned);
    out[i] = make_uint4(crc(records + i * length, length), spread(h) | spread(h >> 16) << 1, turned, least);
}
