// Graphs: many edges lead to one vertex.
// launch: grid 2, block 64: in int32[128] below 16, inout int32[16] all 0, inout int32[1] all 0, inout int32[128]

// Who finds a vertex first puts it on the list: seeing and marking must be one step.
extern "C" __global__ void racy_visited(const int* to, int* seen, int* count, int* list) {
    int edge = blockIdx.x * 64 + threadIdx.x, vertex = to[edge];
    int before = seen[vertex];           // @look
    if (before == 0) seen[vertex] = 1;   // race WAR seen @look; race WAW seen here
    if (before == 0) list[atomicAdd(count, 1)] = vertex;
}

extern "C" __global__ void clean_visited(const int* to, int* seen, int* count, int* list) {
    int edge = blockIdx.x * 64 + threadIdx.x, vertex = to[edge];
    int before = atomicExch(&seen[vertex], 1);
    if (before == 0) list[atomicAdd(count, 1)] = vertex;
}

// Marking alone: all write the same, and nobody looks.
extern "C" __global__ void racy_marked(const int* to, int* seen, int* count, int* mark) {
    int edge = blockIdx.x * 64 + threadIdx.x, vertex = to[edge];
    mark[vertex] = 1;  // race info WAW mark here
}

extern "C" __global__ void clean_marked(const int* to, int* seen, int* count, int* mark) {
    int edge = blockIdx.x * 64 + threadIdx.x, vertex = to[edge];
    mark[edge] = vertex < 16;
}

// The last edge wins, and which is last nobody knows.
extern "C" __global__ void racy_parent(const int* to, int* seen, int* count, int* above) {
    int edge = blockIdx.x * 64 + threadIdx.x, vertex = to[edge];
    above[vertex] = edge;  // race WAW above here
}

extern "C" __global__ void clean_parent(const int* to, int* seen, int* count, int* above) {
    int edge = blockIdx.x * 64 + threadIdx.x, vertex = to[edge];
    atomicMax(&above[vertex], edge);
}

// The smallest distance: comparing and writing must be one step.
// launch: grid 2, block 64: in int32[128] below 16, in int32[128], inout int32[16] all 1000
extern "C" __global__ void racy_shortest(const int* to, const int* length, int* distance) {
    int edge = blockIdx.x * 64 + threadIdx.x, vertex = to[edge];
    int known = distance[vertex];                                  // @known
    if (length[edge] < known) distance[vertex] = length[edge];     // race WAR distance @known; race WAW distance here
}

extern "C" __global__ void clean_shortest(const int* to, const int* length, int* distance) {
    int edge = blockIdx.x * 64 + threadIdx.x, vertex = to[edge];
    atomicMin(&distance[vertex], length[edge]);
}

// Labels travel along a ring of vertices; the old ones must stay until all are read.
// launch: grid 2, block 64: inout int32[128], inout int32[128]
extern "C" __global__ void racy_labels(int* label, int* next) {
    int vertex = blockIdx.x * 64 + threadIdx.x;
    int other = label[(vertex + 1) % 128];  // @other
    int mine = label[vertex];
    __syncthreads();
    label[vertex] = min(mine, other);  // race WAR label @other
}

extern "C" __global__ void clean_labels(int* label, int* next) {
    int vertex = blockIdx.x * 64 + threadIdx.x;
    int other = label[(vertex + 1) % 128];
    int mine = label[vertex];
    __syncthreads();
    next[vertex] = min(mine, other);
}

// Rank flows to the neighbours: from the old ranks into the new ones.
// launch: grid 2, block 64: in int32[128] below 128, inout float32[128], inout float32[128]
extern "C" __global__ void racy_push(const int* to, float* rank, float* next) {
    int vertex = blockIdx.x * 64 + threadIdx.x;
    float share = 0.85f * rank[vertex];  // @rank
    atomicAdd(&rank[to[vertex]], share);  // race WAR rank @rank
}

extern "C" __global__ void clean_push(const int* to, float* rank, float* next) {
    int vertex = blockIdx.x * 64 + threadIdx.x;
    float share = 0.85f * rank[vertex];
    atomicAdd(&next[to[vertex]], share);
}
