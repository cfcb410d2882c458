__global__ void sumReduce(const float* values, float* total, int N) {
}
