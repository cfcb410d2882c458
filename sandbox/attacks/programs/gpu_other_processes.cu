// Opens device memory of other processes by handles that it invents, and maps the device's registers.
//
// After it: no handle was taken, and the device files can only be used as the driver allows.
#include "attack.h"
#include <sys/mman.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    int taken = 0;
    for (int guess = 0; guess < 256; ++guess) {
        cudaIpcMemHandle_t handle;
        memset(&handle, guess, sizeof handle);
        void* memory = nullptr;
        taken += cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess;
    }
    attack::tried(taken > 0, "open memory of another process");
    for (const char* path : {"/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-modeset"}) {
        const int file = open(path, O_RDWR);
        const bool mapped = file >= 0 && mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) != MAP_FAILED;
        attack::tried(mapped, std::string("map ") + path);
    }
    return !attack::write_result();
}
