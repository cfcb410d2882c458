// A recursive quicksort per thread, on its own part of an array.
__device__ __noinline__ void sort(int* data, int first, int last) {
    if (first >= last) return;
    int pivot = data[(first + last) / 2], i = first, j = last;
    while (i <= j) {
        while (data[i] < pivot) ++i;
        while (data[j] > pivot) --j;
        if (i <= j) {
            int kept = data[i];
            data[i++] = data[j];
            data[j--] = kept;
        }
    }
    sort(data, first, j);
    sort(data, i, last);
}

__global__ void kernel(int* data, int each, int threads) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < threads) sort(data + t * each, 0, each - 1);
}
