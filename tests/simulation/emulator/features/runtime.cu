// What the device's runtime does: the heap, `printf`, assertions.
#include <cassert>
#include <cstdio>

extern "C" __global__ void heap(int n, float *out) {
    int i = threadIdx.x;
    float *numbers = (float *)malloc(n * sizeof(float));
    int *more = new int[4];
    if (numbers) {
        for (int k = 0; k < n; k++) numbers[k] = k + i;
        float sum = 0;
        for (int k = 0; k < n; k++) sum += numbers[k];
        more[1] = (int)sum;
        out[i] = more[1];
    }
    delete[] more;
    free(numbers);
}
extern "C" __global__ void heap_in_a_loop(int n, int *out) {
    int failed = 0;
    for (int k = 0; k < n; k++) {
        int *block = (int *)malloc(4096);
        if (!block) failed++;
        else block[threadIdx.x] = k;
        free(block);
    }
    out[threadIdx.x] = failed;
}
extern "C" __global__ void heap_that_is_full(int *out) { out[threadIdx.x] = malloc(16 << 20) == nullptr; }
extern "C" __global__ void past_the_end(int *out) {
    int *block = (int *)malloc(8);
    block[2] = 1;
    out[threadIdx.x] = 0;
}
extern "C" __global__ void used_after_free(int *out) {
    int *block = (int *)malloc(16);
    block[1] = 5;
    free(block);
    out[threadIdx.x] = block[1];
}
extern "C" __global__ void freed_twice(int *out) {
    int *block = (int *)malloc(16);
    free(block);
    free(block);
}
extern "C" __global__ void heap_not_set(int *out) { out[threadIdx.x] = ((int *)malloc(16))[3]; }

extern "C" __global__ void print(float *values) {
    int i = threadIdx.x;
    int n = printf("%d|%5u|%-4d|%+.2f|%s|%c|%x|%#X|%lld|%%|%08.3e|%5s|%hhd|%zu|%i\n", i, 7u, -i, values[i],
                   "text", 'c', 255, 255, -(1ll << 40), 12345.678, "ab", 300, (size_t)1 << 33, -3);
    printf("%p %p\n", (void *)0, (void *)255);
    printf("no arguments\n");
    values[i] = n;
}
extern "C" __global__ void print_a_lot(int n) {
    for (int k = 0; k < n; k++) printf("line %d of thread %d\n", k, threadIdx.x);
}
extern "C" __global__ void print_whatever(const char *format, const char *text) { printf(format, text, 5, 6.0); }

extern "C" __global__ void checked(const int *values) { assert(values[threadIdx.x] < 20); }
extern "C" __global__ void trapped(const int *values) {
    if (values[threadIdx.x] == 20) __trap();
}
