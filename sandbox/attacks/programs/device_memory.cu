// Wants memory of its device that is not its own: to write what it does not share, to map it, or to use it all up.
//
// After it: only copies and kernels have changed device memory, and there was never more of it than is allowed.
#include "device.h"
#include <ctime>
#include <sys/mman.h>
using namespace device;

static Bytes extent(U address, U size) { return Bytes{}.add(address).add(size); }

// What the device itself holds in an array.
static int held(U address) {
    int value = 0;
    cudaMemcpy(&value, reinterpret_cast<void*>(address), sizeof value, cudaMemcpyDeviceToHost);
    return value;
}

int main(int argc, char** argv) {
    device::begin(argc, argv);
    const U array = allocated(64);
    void* shared = nullptr;
    if (is("all memory there could ever be")) ask(Operation::allocate, Bytes{}.add(huge).add(N{0}).add(U{0}));
    if (is("a write to memory that is not shared")) ask(Operation::push, extent(array, 64));
    if (is("a write to more shared memory than there is")) {
        cudaMallocManaged(&shared, 64);
        ask(Operation::push, extent(U(shared), 65));
    }
    if (is("a read of memory that is nobody's")) ask(Operation::pull, extent(0x1000, 64));
    if (is("memory of one's own at the device's address")) {
        cudaMemset(reinterpret_cast<void*>(array), 1, 64);
        void* page = reinterpret_cast<void*>(array & ~U{4095});
        void* own = mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (own == page) memset(own, 7, 4096);
        attack::tried(held(array) != 0x01010101, "write to device memory from the host");
    }
    if (is("files of the device's memory")) {
        bool reached = false;
        for (int file = 3; file < 64; ++file) {
            const bool shrinks = file != line && lseek(file, 0, SEEK_END) > 4096 && !ftruncate(file, 0);
            const bool maps = mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, file, 0) != MAP_FAILED;
            reached = reached || shrinks || maps;
        }
        attack::tried(reached, "shrink or map memory of the device by its file");
    }
    if (is("two million allocations")) {
        int live = 0;
        const long began = time(nullptr);
        for (int i = 0; i < 2000000 && time(nullptr) - began < 2; ++i) live += cudaMalloc(&shared, 16) == 0;
        attack::tried(live > 10000, "hold more allocations than there may be");
    }
    if (is("streams without end")) {
        int live = 0;
        for (int i = 0; i < 11000 && say(Operation::stream_create, Bytes{}.add(N{0})); ++i) live += !hear();
        attack::tried(live > 10000, "hold more streams than there may be");
    }
    return !attack::write_result();
}
