// How many ways eight queens can stand: a thread for every pair of first columns, a stack of its own.
#define N 8
__global__ void kernel(int* ways) {
    int first = threadIdx.x % N, second = threadIdx.x / N, count = 0;
    int tried[N];
    unsigned columns[N], left[N], right[N];
    unsigned bit = 1u << first;
    columns[1] = bit;
    left[1] = bit << 1;
    right[1] = bit >> 1;
    unsigned other = 1u << second;
    if (!(other & (columns[1] | left[1] | right[1]))) {
        columns[2] = bit | other;
        left[2] = (left[1] | other) << 1;
        right[2] = (right[1] | other) >> 1;
        int row = 2;
        tried[2] = 0;
        while (row >= 2) {
            if (tried[row] == N) {
                --row;
                continue;
            }
            unsigned queen = 1u << tried[row]++;
            if (queen & (columns[row] | left[row] | right[row])) continue;
            if (row == N - 1) {
                ++count;
                continue;
            }
            columns[row + 1] = columns[row] | queen;
            left[row + 1] = (left[row] | queen) << 1;
            right[row + 1] = (right[row] | queen) >> 1;
            tried[++row] = 0;
        }
    }
    ways[threadIdx.x] = count;
}
