// An image of bytes, three per pixel, to grey, with rounding and saturation.
__global__ void kernel(const unsigned char* rgb, unsigned char* grey, signed char* contrast, int pixels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pixels) {
        unsigned char r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
        grey[i] = (unsigned char)(0.299f * r + 0.587f * g + 0.114f * b + 0.5f);
        int difference = (int)r - b;
        contrast[i] = difference > 127 ? 127 : difference < -128 ? -128 : difference;
    }
}
