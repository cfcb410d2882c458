// Function pointers in every kind of memory, virtual functions, recursion, and structs passed by value.
typedef float (*Operation)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float multiply(float a, float b) { return a * b; }
__device__ float larger(float a, float b) { return a > b ? a : b; }
__device__ Operation table[3] = {add, multiply, larger};
__constant__ Operation constants[2] = {multiply, add};
__device__ Operation unused[1] = {larger};
struct Named { char letter; Operation operation; };
__device__ Named named[2] = {{'a', add}, {'m', multiply}};

extern "C" __global__ void pointers(const int *which, const float *a, const float *b, float *out) {
    int i = threadIdx.x, w = which[i];
    out[i] = table[w](a[i], b[i]) + constants[w & 1](a[i], b[i]) + named[w & 1].operation(a[i], b[i]) +
             named[w & 1].letter;
}

extern "C" __global__ void local_pointers(int *out) {
    Operation mine[3] = {add, multiply, larger};
    Operation chosen = threadIdx.x & 1 ? mine[threadIdx.x % 3] : larger;
    out[threadIdx.x] = chosen(threadIdx.x, 7);
}

extern "C" __global__ void wild(Operation pointer, float *out) { out[threadIdx.x] = pointer(1, 2); }

__device__ float alone(float a) { return -a; }
__device__ float (*single)(float) = alone;
extern "C" __global__ void another_type(float *out) { out[threadIdx.x] = ((Operation)single)(1, 2); }

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 0; }
};
struct Square : Shape {
    float side;
    __device__ Square(float side) : side(side) {}
    __device__ float area() const override { return side * side; }
    __device__ int corners() const override { return 4; }
};
struct Disc : Shape {
    float radius;
    __device__ Disc(float radius) : radius(radius) {}
    __device__ float area() const override { return 3.0f * radius * radius; }
};
extern "C" __global__ void virtual_functions(const int *which, const float *size, float *out) {
    int i = threadIdx.x;
    Square square(size[i]);
    Disc disc(size[i]);
    Shape *shape = which[i] ? (Shape *)&disc : (Shape *)&square;
    out[i] = shape->area() + shape->corners();
}

template <class Function> __device__ float apply(Function f, float x) { return f(x); }
extern "C" __global__ void lambdas(float factor, float *out) {
    out[threadIdx.x] = apply([=](float x) { return factor * x + 1; }, out[threadIdx.x]);
}

struct Rows { float value[16]; int count; };
extern "C" __global__ void indexed_parameter(Rows rows, float *out) {
    out[threadIdx.x] = rows.value[threadIdx.x % rows.count];
}
extern "C" __global__ void constant_parameter(const __grid_constant__ Rows rows, float *out) {
    const float *values = rows.value;
    out[threadIdx.x] = values[threadIdx.x % rows.count];
}

__device__ __noinline__ float pick(Rows rows, int i) { return rows.value[i]; }
__device__ __noinline__ Rows make(int count) {
    Rows rows;
    for (int k = 0; k < 16; k++) rows.value[k] = k * count;
    rows.count = count;
    return rows;
}
extern "C" __global__ void structs_by_value(float *out) {
    Rows rows = make(threadIdx.x);
    rows.value[3] += 1;
    out[threadIdx.x] = pick(rows, (threadIdx.x * 3) & 15) + rows.count;
}

__device__ __noinline__ int deep(int n) {
    int rows[3] = {n, n * 2, n * 3};
    if (n <= 0) return rows[threadIdx.x % 3];
    return deep(n - 1) + rows[n % 3];
}
extern "C" __global__ void recursion(int *out) { out[threadIdx.x] = deep(threadIdx.x % 10); }

__device__ __noinline__ bool odd(int n);
__device__ __noinline__ bool even(int n) { return n == 0 || odd(n - 1); }
__device__ __noinline__ bool odd(int n) { return n != 0 && even(n - 1); }
extern "C" __global__ void mutual_recursion(int *out) { out[threadIdx.x] = odd(threadIdx.x); }

__device__ __noinline__ void two(float a, float &sum, float *product) {
    sum = a + 1;
    *product = a * 2;
}
extern "C" __global__ void references(float *out) {
    float sum, product;
    two(threadIdx.x, sum, &product);
    out[threadIdx.x] = sum * 100 + product;
}

extern "C" __global__ void many_cases(const int *which, int *out) {
    int i = threadIdx.x, r = 0;
    switch (which[i]) {
    case 0: r = out[i] * 3; break;
    case 1: r = out[i] + 17; break;
    case 2: r = out[i] - 5; break;
    case 3: r = out[i] ^ 99; break;
    case 4: r = out[i] << 3; break;
    case 5: r = ~out[i]; break;
    case 6: r = -out[i]; break;
    case 7: r = out[i] * out[i]; break;
    default: r = -1;
    }
    out[i] = r;
}
