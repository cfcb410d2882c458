// How soon each point of the plane escapes, with every rounding spelt out; the trip counts differ from lane to lane.
__global__ void kernel(unsigned short* counts, int width, int height, double2 corner, double step, int most) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    double cr = __dadd_rn(corner.x, __dmul_rn(step, x)), ci = __dadd_rn(corner.y, __dmul_rn(step, y));
    double zr = 0, zi = 0, rr = 0, ii = 0;
    int count = 0;
    while (count < most && __dadd_rn(rr, ii) <= 4.0) {
        zi = __dadd_rn(__dmul_rn(2.0 * zr, zi), ci);
        zr = __dadd_rn(__dadd_rn(rr, -ii), cr);
        rr = __dmul_rn(zr, zr);
        ii = __dmul_rn(zi, zi);
        ++count;
    }
    counts[y * width + x] = count;
}
