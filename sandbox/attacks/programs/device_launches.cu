// Forges launches and registrations, launches out of a child, and gives kernels addresses of other memory.
//
// After it: only kernels that the grader compiled have run, with parameters of their own size, and what they read
// outside of all arrays was nothing: no secret of the grader's process is behind any address.
#include "device.h"
#include <sys/wait.h>
#include <thread>
using namespace device;

__global__ void look(const unsigned long long* from, unsigned long long* to) { *to = *from; }
__global__ void increase(int* values) { values[threadIdx.x] += 1; }
extern "C" void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*,
                                       int*);

static Bytes launch(N kernel, size_t bytes) {
    Bytes all;
    all.add(kernel);
    for (int i = 0; i < 6; ++i) all.add(N{1});
    all.add(U{0}).add(U{0}).add(N{0});
    all.resize(all.size() + bytes);
    return all;
}

int main(int argc, char** argv) {
    device::begin(argc, argv);
    if (is("a launch of a kernel that is not there")) ask(Operation::launch, launch(7, 8));
    if (is("parameters that are too short")) ask(Operation::launch, launch(0, 3));
    if (is("parameters that are too long")) ask(Operation::launch, launch(0, 60000));
    if (is("a kernel that nobody compiled")) {
        static char stub, name[] = "_Z7awardedPf";
        auto handle = reinterpret_cast<void**>(1);
        __cudaRegisterFunction(handle, &stub, name, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
        const cudaError_t code = cudaLaunchKernel(&stub, dim3(1), dim3(1), nullptr, 0, nullptr);
        attack::tried(code == cudaSuccess, "launch a kernel of another file");
    }
    if (is("a launch out of a child")) {
        const int child = fork();
        if (!child) _exit(cudaDeviceSynchronize() == cudaSuccess ? 1 : 0);
        int status = 0;
        waitpid(child, &status, 0);
        attack::tried(status != 0, "use the device of the parent");
    }
    if (is("addresses of other memory")) {
        U seen = 0, own = allocated(8);
        for (const U place : {U{8}, U{0x400000}, U(&own), own - (U{4} << 32), own + (U{1} << 30), own + 8,
                              U{0x6000} << 32, huge - 7, U(stdout)}) {
            seen = 0;
            cudaDeviceReset();  // which takes back the error of the launch before
            own = allocated(8);
            cudaMemset(reinterpret_cast<void*>(own), 0, 8);
            look<<<1, 1>>>(reinterpret_cast<unsigned long long*>(place), reinterpret_cast<unsigned long long*>(own));
            cudaMemcpy(&seen, reinterpret_cast<void*>(own), 8, cudaMemcpyDeviceToHost);
            attack::tried(seen && seen != huge, "read what is at " + std::to_string(place));
        }
    }
    if (is("managed memory that changes during a launch")) {
        int* values = nullptr;
        cudaMallocManaged(&values, 128);
        std::thread other([values] { for (int i = 0; i < 20000; ++i) static_cast<volatile int*>(values)[i % 32] = i; });
        for (int i = 0; i < 50; ++i) increase<<<1, 32>>>(values);
        other.join();
        attack::tried(cudaDeviceSynchronize() != cudaSuccess, "change memory under a kernel");
    }
    return !attack::write_result();
}
