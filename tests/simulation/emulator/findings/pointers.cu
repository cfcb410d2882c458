// Addresses that lie in no array, or not where the access would have them.
struct Row { float* cells; int length; };

extern "C" __global__ void null_pointer(float* A) {
    float* nowhere = nullptr;
    if (threadIdx.x == 5) nowhere[3] = A[0];
}
extern "C" __global__ void number_for_a_pointer(float* A, int n) {
    float* there = (float*)(size_t)(n * 40000);
    A[threadIdx.x] = there[threadIdx.x];
}
extern "C" __global__ void pointer_read_from_beyond(float** A, float* B) {
    float* row = A[64 + threadIdx.x];
    B[threadIdx.x] = row[0];
}
extern "C" __global__ void stale_pointer(Row* A, float* B) {
    A[threadIdx.x].cells[0] = 1.0f;
    B[threadIdx.x] = A[threadIdx.x].cells[0];
}
extern "C" __global__ void after_free(float* A) {
    if (threadIdx.x == 0) {
        int* mine = (int*)malloc(16);
        mine[3] = 7;
        A[0] = mine[3];
        free(mine);
        A[1] = mine[2];
    }
}
extern "C" __global__ void past_the_heap_block(float* A) {
    int* mine = (int*)malloc(16);
    mine[4] = 7;
    free(mine);
}
extern "C" __global__ void misaligned_int(char* A) {
    *(int*)(A + 2 * threadIdx.x) = 7;
}
extern "C" __global__ void misaligned_vector(float* A, float* B) {
    float4 four = *(float4*)(A + threadIdx.x);
    B[threadIdx.x] = four.x + four.y + four.z + four.w;
}
extern "C" __global__ void whole_vectors(const float4* A, float* B) {
    float4 four = A[threadIdx.x];
    B[threadIdx.x] = four.x + four.y + four.z + four.w;
}
extern "C" __global__ void misaligned_shared(float* A) {
    __shared__ __align__(16) float tile[64];
    tile[threadIdx.x] = tile[threadIdx.x + 32] = 1.0f;
    __syncthreads();
    float2 two = *(float2*)&tile[threadIdx.x + 1];
    A[threadIdx.x] = two.x + two.y;
}
