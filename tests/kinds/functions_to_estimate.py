"""An assignment that asks for a function, and functions for it whose speed is to be estimated."""

from __future__ import annotations

ELEMENTS = 1 << 16
YAML = f"""
id: scale
title: Scale
reference: scaling
submission: {{kind: function, function: scale, pointers: device, seconds: 10, emulator_seconds: 5,
  parameters: {{x: 'in float32[N]', y: 'out float32[N]', N: int32}}}}
timing: {{shape: {{N: {ELEMENTS}}}, baseline: slow}}
cases:
  - {{id: odd, shape: {{N: 55}}}}
rubric:
  - {{id: right, points: 50, check: output}}
  - {{id: fast, points: 50, check: speedup, baseline: slow, none_below: 1.0, full_at: 1.2}}
"""
AS_KERNEL = YAML.replace(
    "kind: function, function: scale, pointers: device, seconds: 10, emulator_seconds: 5,",
    "kind: kernel, kernel: product, launch: {block: [128], grid: [ceil(N / 128)]},",
)
ORACLE = """
import numpy as np
KINDS = ("random",)
def inputs(kind, shape, rng):
    return {"x": rng.integers(1, 99, shape["N"]).astype(np.float32)}
def expected(inputs, shape):
    return {"y": (3.0 * inputs["x"].astype(np.float64), np.zeros(shape["N"]))}
"""
PRODUCT = """
__global__ void product(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 3.0f * x[i];
}
"""
DOUBLE = """
__global__ void sum(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i] + x[i];
}
"""
BLOCKS = "<<<(n + 127) / 128, 128>>>"
PLAIN = f"""{PRODUCT}
extern "C" void scale(const float *x, float *y, int n) {{ product{BLOCKS}(x, y, n); }}
"""
SLOW = PLAIN.replace(
    "    if (i < n)",
    "    #pragma unroll 1\n    for (int round = 0; round < 99; ++round) __syncthreads();\n    if (i < n)",
)
TWO_KERNELS = f"""{PRODUCT}{DOUBLE}
extern "C" void scale(const float *x, float *y, int n) {{
    cudaMemcpy(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
    sum{BLOCKS}(x, y, n);
    product{BLOCKS}(x, y, n);
}}
"""
ON_HOST = f"""{PRODUCT}
extern "C" void scale(const float *x, float *y, int n) {{
    float *from, *to;
    cudaMalloc(&from, n * sizeof(float));
    cudaMalloc(&to, n * sizeof(float));
    cudaMemset(to, 0, n * sizeof(float));
    cudaMemcpy(from, x, n * sizeof(float), cudaMemcpyHostToDevice);
    product{BLOCKS}(from, to, n);
    cudaMemcpy(y, to, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(from);
    cudaFree(to);
}}
"""
WRONG = PLAIN.replace("3.0f", "2.0f")

# Rounds until a counter on the device shows that it is done: what the host does depends on results.
UNTIL_DONE = f"""{PRODUCT}
__global__ void count(int *left) {{ *left -= 1; }}
extern "C" void scale(const float *x, float *y, int n) {{
    int left = 3, *counter;
    cudaMalloc(&counter, sizeof left);
    cudaMemcpy(counter, &left, sizeof left, cudaMemcpyHostToDevice);
    while (left > 0) {{
        count<<<1, 1>>>(counter);
        cudaMemcpy(&left, counter, sizeof left, cudaMemcpyDeviceToHost);
    }}
    product{BLOCKS}(x, y, n);
    cudaFree(counter);
}}
"""
# The work of the kernel is in a constant and in an array, behind its start.
BY_MEMORY = f"""
__constant__ int rounds[2];
__global__ void product(const float *x, float *y, const int *more, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    #pragma unroll 1
    for (int round = 0; round < rounds[1] + *more; ++round) sum = sum * 0.5f + x[i];
    if (i < n) y[i] = 0.0f * sum + 3.0f * x[i];
}}
extern "C" void scale(const float *x, float *y, int n) {{
    int of_constant[2] = {{0, IN_CONSTANT}}, of_array[2] = {{0, IN_ARRAY}}, *more;
    cudaMalloc(&more, sizeof of_array);
    cudaMemcpyToSymbol(rounds, of_constant, sizeof of_constant);
    cudaMemcpy(more, of_array, sizeof of_array, cudaMemcpyHostToDevice);
    product{BLOCKS}(x, y, more + 1, n);
    cudaFree(more);
}}
"""
DIFFERENT = f"""{PRODUCT}
extern "C" void scale(const float *x, float *y, int n) {{
    for (int i = 0; i < LAUNCHES; i++) product<<<1, 32>>>(x, y, STEP);
    product{BLOCKS}(x, y, n);
}}
"""
MANAGED = PLAIN.replace(
    "{ product", "{ float *mine; cudaMallocManaged(&mine, 4); product<<<1, 1>>>(x, mine, 1); product"
)
# A column of a shared array, again and again; the function makes the launch some times.
CONFLICTS = f"""{PRODUCT}
__global__ void columns(float *y, int n) {{
    __shared__ volatile float tile[32 * 32];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x) tile[i] = i;
    __syncthreads();
    #pragma unroll 1
    for (int round = 0; round < 50; ++round) sum += tile[threadIdx.x % 32 * 32];
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}}
extern "C" void scale(const float *x, float *y, int n) {{
    for (int i = 0; i < LAUNCHES; i++) columns<<<n / 128, 128>>>(y, n);
    product{BLOCKS}(x, y, n);
}}
"""
# The second kernel goes where the first has written that it should.
FOLLOWS = f"""{PRODUCT}
__global__ void write(int **place, int *target) {{ *place = target; }}
__global__ void follow(int **place) {{ **place = 1; }}
extern "C" void scale(const float *x, float *y, int n) {{
    int **place, *target;
    cudaMalloc(&place, sizeof *place);
    cudaMalloc(&target, sizeof *target);
    write<<<1, 1>>>(place, target);
    follow<<<1, 1>>>(place);
    product{BLOCKS}(x, y, n);
    cudaFree(place);
    cudaFree(target);
}}
"""
