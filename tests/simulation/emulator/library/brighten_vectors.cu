// Vector types of every width: four bytes, two shorts, four ints and two doubles at a time.
__device__ unsigned char brighter(unsigned char value, int by) { return min(value + by, 255); }

__global__ void kernel(uchar4* pixels, const short2* steps, int4* sums, double2* pairs, int by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar4 pixel = pixels[i];
    pixel.x = brighter(pixel.x, by);
    pixel.y = brighter(pixel.y, by);
    pixel.z = brighter(pixel.z, by);
    pixels[i] = pixel;
    short2 step = steps[i];
    int4 sum = sums[i];
    sum.x += step.x;
    sum.y -= step.y;
    sum.z = max(sum.z, (int)step.x);
    sum.w ^= step.y;
    sums[i] = sum;
    double2 pair = pairs[i];
    pairs[i] = make_double2(pair.y, pair.x * 0.5);
}
