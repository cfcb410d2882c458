// An array of structures of odd sizes: particles bounce in a box; bit fields and bytes among the floats.
struct Particle {
    float3 place;
    float3 speed;
    unsigned char bounces;
    bool alive;
    unsigned colour : 5;
    unsigned kind : 3;
};

__global__ void kernel(Particle* particles, float3 box, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle p = particles[i];
    for (int step = 0; step < steps && p.alive; ++step) {
        float* place = &p.place.x;
        float* speed = &p.speed.x;
        const float* wall = &box.x;
        for (int axis = 0; axis < 3; ++axis) {
            place[axis] += speed[axis];
            if (place[axis] < 0 || place[axis] > wall[axis]) {
                speed[axis] = -speed[axis];
                ++p.bounces;
                p.colour = (p.colour + 7) & 31;
            }
        }
        p.alive = p.bounces < 9;
    }
    p.kind = p.alive ? p.kind : 7;
    particles[i] = p;
}
