// Forces between bodies: float4 loads, tiles in dynamic shared memory, a structure passed by value.
struct Settings {
    float softening;
    int bodies;
    double strength;
    short unused;
};

extern __shared__ float4 tile[];

__global__ void kernel(const float4* bodies, float4* forces, Settings settings) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 own = i < settings.bodies ? bodies[i] : make_float4(0, 0, 0, 0);
    float3 sum = {0, 0, 0};
    for (int start = 0; start < settings.bodies; start += blockDim.x) {
        int j = start + threadIdx.x;
        tile[threadIdx.x] = j < settings.bodies ? bodies[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int k = 0; k < blockDim.x; ++k) {
            float dx = tile[k].x - own.x, dy = tile[k].y - own.y, dz = tile[k].z - own.z;
            float square = dx * dx + dy * dy + dz * dz + settings.softening;
            float inverse = 1.0f / sqrtf(square);
            float factor = tile[k].w * inverse * inverse * inverse;
            sum.x += factor * dx;
            sum.y += factor * dy;
            sum.z += factor * dz;
        }
        __syncthreads();
    }
    if (i < settings.bodies) {
        float strength = (float)settings.strength;
        forces[i] = make_float4(sum.x * strength, sum.y * strength, sum.z * strength, own.w);
    }
}
