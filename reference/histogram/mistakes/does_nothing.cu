__global__ void histogram(const unsigned char* values, int* counts, int N, int B) {
}
