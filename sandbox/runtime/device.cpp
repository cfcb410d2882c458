// The one device there is: what programs ask of it, and what they set (CUDA Runtime API, "Device Management").
//
// Its figures are those of compute capability 8.0 with the multiprocessors of the emulator; memory is what the
// assignment allows.
#include "capture.hpp"
#include "errors.hpp"
#include "kernels.hpp"
#include "managed.hpp"
#include "streams.hpp"
#include "wire.hpp"

#include <algorithm>
#include <cstring>

namespace standin {

void forget_errors();

namespace {

constexpr int multiprocessors = 108, threads_per_multiprocessor = 2048, blocks_per_multiprocessor = 32;
constexpr int threads_per_block = 1024, registers = 65536, clock_khz = 1'410'000, memory_clock_khz = 1'593'000;
constexpr std::size_t shared_per_block = 48 << 10, shared_per_block_opt_in = 163 << 10, reserved_shared = 1 << 10;
constexpr int runtime_version = 13000;

constexpr std::size_t initial_limits[cudaLimitPersistingL2CacheSize + 1] = {
    1024, 1 << 20, 8 << 20, 2, 2048, 128, 0,
};
constexpr std::size_t least_heap = 4 << 20;
std::size_t limits[cudaLimitPersistingL2CacheSize + 1] = {};

std::size_t &limit(cudaLimit which) {
    if (!limits[which]) limits[which] = initial_limits[which];
    return limits[which];
}

void describe(cudaDeviceProp &device) {
    std::memset(&device, 0, sizeof device);
    std::strcpy(device.name, "CUDA emulator (sm_80)");
    device.totalGlobalMem = ask(Operation::memory_info, nullptr).next<std::uint64_t>();
    device.sharedMemPerBlock = shared_per_block;
    device.sharedMemPerBlockOptin = shared_per_block_opt_in;
    device.reservedSharedMemPerBlock = reserved_shared;
    device.sharedMemPerMultiprocessor = shared_per_block_opt_in + reserved_shared;
    device.regsPerBlock = device.regsPerMultiprocessor = registers;
    device.warpSize = 32;
    device.memPitch = (std::size_t{1} << 31) - 1;
    device.maxThreadsPerBlock = threads_per_block;
    device.maxThreadsDim[0] = device.maxThreadsDim[1] = 1024, device.maxThreadsDim[2] = 64;
    device.maxGridSize[0] = 0x7FFFFFFF, device.maxGridSize[1] = device.maxGridSize[2] = 65535;
    device.totalConstMem = 64 << 10;
    device.major = 8, device.minor = 0;
    device.textureAlignment = 512, device.texturePitchAlignment = 32;
    device.multiProcessorCount = multiprocessors;
    device.canMapHostMemory = device.concurrentKernels = device.unifiedAddressing = device.managedMemory = 1;
    device.concurrentManagedAccess = device.cooperativeLaunch = device.memoryPoolsSupported = 1;
    device.streamPrioritiesSupported = device.globalL1CacheSupported = device.localL1CacheSupported = 1;
    device.hostRegisterSupported = device.computePreemptionSupported = 1;
    device.asyncEngineCount = 3;
    device.memoryBusWidth = 5120;
    device.l2CacheSize = 40 << 20;
    device.maxThreadsPerMultiProcessor = threads_per_multiprocessor;
    device.maxBlocksPerMultiProcessor = blocks_per_multiprocessor;
}

// The value of an attribute; false for one that says nothing about this device.
bool attribute(cudaDeviceAttr which, const cudaDeviceProp &device, int &value) {
    switch (which) {
    case cudaDevAttrMaxThreadsPerBlock: value = device.maxThreadsPerBlock; return true;
    case cudaDevAttrMaxBlockDimX: value = device.maxThreadsDim[0]; return true;
    case cudaDevAttrMaxBlockDimY: value = device.maxThreadsDim[1]; return true;
    case cudaDevAttrMaxBlockDimZ: value = device.maxThreadsDim[2]; return true;
    case cudaDevAttrMaxGridDimX: value = device.maxGridSize[0]; return true;
    case cudaDevAttrMaxGridDimY: value = device.maxGridSize[1]; return true;
    case cudaDevAttrMaxGridDimZ: value = device.maxGridSize[2]; return true;
    case cudaDevAttrMaxSharedMemoryPerBlock: value = static_cast<int>(device.sharedMemPerBlock); return true;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: value = static_cast<int>(device.sharedMemPerBlockOptin); return true;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        value = static_cast<int>(device.sharedMemPerMultiprocessor);
        return true;
    case cudaDevAttrReservedSharedMemoryPerBlock:
        value = static_cast<int>(device.reservedSharedMemPerBlock);
        return true;
    case cudaDevAttrTotalConstantMemory: value = static_cast<int>(device.totalConstMem); return true;
    case cudaDevAttrWarpSize: value = device.warpSize; return true;
    case cudaDevAttrMaxRegistersPerBlock: value = device.regsPerBlock; return true;
    case cudaDevAttrMaxRegistersPerMultiprocessor: value = device.regsPerMultiprocessor; return true;
    case cudaDevAttrClockRate: value = clock_khz; return true;
    case cudaDevAttrMemoryClockRate: value = memory_clock_khz; return true;
    case cudaDevAttrGlobalMemoryBusWidth: value = device.memoryBusWidth; return true;
    case cudaDevAttrL2CacheSize: value = device.l2CacheSize; return true;
    case cudaDevAttrMultiProcessorCount: value = device.multiProcessorCount; return true;
    case cudaDevAttrMaxThreadsPerMultiProcessor: value = device.maxThreadsPerMultiProcessor; return true;
    case cudaDevAttrMaxBlocksPerMultiprocessor: value = device.maxBlocksPerMultiProcessor; return true;
    case cudaDevAttrComputeCapabilityMajor: value = device.major; return true;
    case cudaDevAttrComputeCapabilityMinor: value = device.minor; return true;
    case cudaDevAttrAsyncEngineCount: value = device.asyncEngineCount; return true;
    case cudaDevAttrConcurrentKernels: value = device.concurrentKernels; return true;
    case cudaDevAttrUnifiedAddressing: value = device.unifiedAddressing; return true;
    case cudaDevAttrCanMapHostMemory: value = device.canMapHostMemory; return true;
    case cudaDevAttrManagedMemory: value = device.managedMemory; return true;
    case cudaDevAttrConcurrentManagedAccess: value = device.concurrentManagedAccess; return true;
    case cudaDevAttrCooperativeLaunch: value = device.cooperativeLaunch; return true;
    case cudaDevAttrMemoryPoolsSupported: value = device.memoryPoolsSupported; return true;
    case cudaDevAttrStreamPrioritiesSupported: value = device.streamPrioritiesSupported; return true;
    case cudaDevAttrHostRegisterSupported: value = device.hostRegisterSupported; return true;
    case cudaDevAttrComputePreemptionSupported: value = device.computePreemptionSupported; return true;
    case cudaDevAttrMaxPitch: value = static_cast<int>(device.memPitch); return true;
    case cudaDevAttrIntegrated:
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrComputeMode:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrIsMultiGpuBoard:
    case cudaDevAttrClusterLaunch:
    case cudaDevAttrTccDriver: value = 0; return true;
    default: return false;
    }
}

// The session's answer about a kernel, and about a number of its threads in a block.
struct Facts {
    cudaError_t code;
    std::uint32_t registers, static_shared, local, constants, most_threads, most_dynamic_shared, blocks;
};

Facts facts(const void *kernel, int threads, std::size_t dynamic_shared, const void *caller) {
    std::int64_t number = kernel_number(kernel, caller);
    if (number < 0) return {cudaErrorInvalidResourceHandle, 0, 0, 0, 0, 0, 0, 0};
    Payload payload;
    payload.add(static_cast<std::uint32_t>(number)).add(static_cast<std::uint32_t>(threads));
    Answer answer = ask(Operation::occupancy, caller, payload.add(std::uint64_t{dynamic_shared}));
    Facts all{answer.code, 0, 0, 0, 0, 0, 0, 0};
    for (std::uint32_t *fact : {&all.registers, &all.static_shared, &all.local, &all.constants, &all.most_threads,
                                &all.most_dynamic_shared, &all.blocks}) {
        *fact = answer.next<std::uint32_t>();
    }
    return all;
}

cudaError_t occupancy(int *blocks, const void *kernel, int threads, std::size_t shared_bytes, const void *caller) {
    NEEDS_DEVICE;
    if (!blocks || threads <= 0) return keep(cudaErrorInvalidValue);
    Facts all = facts(kernel, threads, shared_bytes, caller);
    *blocks = static_cast<int>(all.blocks);
    return keep(all.code);
}

} // namespace
} // namespace standin

using namespace standin;

extern "C" {

cudaError_t cudaGetDeviceCount(int *count) {
    if (!count) return keep(cudaErrorInvalidValue);
    *count = 1;
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
    if (!device) return keep(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return keep(device == 0 ? cudaSuccess : cudaErrorInvalidDevice); }
cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *) { return cudaGetDevice(device); }
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
cudaError_t cudaGetDeviceFlags(unsigned *flags) {
    if (flags) *flags = 0;
    return cudaSuccess;
}
// There is one device, and none is its own peer.
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned flags) {
    NEEDS_DEVICE;
    return keep(flags ? cudaErrorInvalidValue : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceDisablePeerAccess(int) {
    NEEDS_DEVICE;
    return keep(cudaErrorInvalidDevice);
}
cudaError_t cudaSetValidDevices(int *devices, int count) {
    NEEDS_DEVICE;
    for (int number = 0; number < count; ++number) {
        if (!devices || devices[number]) return keep(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}
// Nothing here keeps lines of a cache.
cudaError_t cudaCtxResetPersistingL2Cache() {
    NEEDS_DEVICE;
    return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    if (device || peer) return keep(cudaErrorInvalidDevice);
    if (can) *can = 0;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
    NEEDS_DEVICE;
    if (!properties) return keep(cudaErrorInvalidValue);
    if (device) return keep(cudaErrorInvalidDevice);
    describe(*properties);
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr which, int device) {
    NEEDS_DEVICE;
    if (!value) return keep(cudaErrorInvalidValue);
    if (device) return keep(cudaErrorInvalidDevice);
    static const cudaDeviceProp properties = [] {
        cudaDeviceProp all;
        describe(all);
        return all;
    }();
    if (which <= 0 || which >= cudaDevAttrMax) return keep(cudaErrorInvalidValue);
    if (!attribute(which, properties, *value)) unsupported("this attribute of cudaDeviceGetAttribute", CALLER);
    return cudaSuccess;
}
cudaError_t cudaDeviceGetLimit(std::size_t *value, cudaLimit which) {
    NEEDS_DEVICE;
    if (!value || which > cudaLimitPersistingL2CacheSize) return keep(cudaErrorInvalidValue);
    *value = limit(which);
    return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(cudaLimit which, std::size_t value) {
    NEEDS_DEVICE;
    if (which > cudaLimitPersistingL2CacheSize) return keep(cudaErrorInvalidValue);
    Payload payload;
    payload.add(std::uint32_t{which}).add(std::uint64_t{value});
    cudaError_t code = ask(Operation::function_limit, CALLER, payload).code;
    if (which == cudaLimitStackSize) value = (value + 15) / 16 * 16; // as an H100 does, and the next
    if (which == cudaLimitMallocHeapSize) value = std::max(value, least_heap);
    if (code == cudaSuccess) limit(which) = value;
    return keep(code);
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *config) {
    if (config) *config = cudaFuncCachePreferNone;
    return cudaSuccess;
}
// The banks of shared memory have had one width since compute capability 5.0: to ask for another does nothing.
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
cudaError_t cudaFuncSetSharedMemConfig(const void *, cudaSharedMemConfig) { return cudaSuccess; }
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *config) {
    if (config) *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
    if (!version) return keep(cudaErrorInvalidValue);
    *version = runtime_version;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) { return cudaDriverGetVersion(version); }

cudaError_t cudaDeviceReset() {
    if (forked()) return keep(cudaErrorInitializationError);
    hand_over();
    cudaError_t code = ask(Operation::reset, CALLER).code;
    unshare_all();
    std::memset(limits, 0, sizeof limits);
    forget_kernels();
    forget_errors();
    forget_handles();
    forget_captures();
    return keep(code);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel) {
    NEEDS_DEVICE;
    if (!attributes) return keep(cudaErrorInvalidValue);
    Facts all = facts(kernel, 1, 0, CALLER);
    std::memset(attributes, 0, sizeof *attributes);
    attributes->sharedSizeBytes = all.static_shared;
    attributes->constSizeBytes = all.constants;
    attributes->localSizeBytes = all.local;
    attributes->maxThreadsPerBlock = static_cast<int>(all.most_threads);
    attributes->numRegs = static_cast<int>(all.registers);
    attributes->ptxVersion = attributes->binaryVersion = 80;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(all.most_dynamic_shared);
    return keep(all.code);
}
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute which, int value) {
    NEEDS_DEVICE;
    std::int64_t number = kernel_number(kernel, CALLER);
    if (number < 0) return keep(cudaErrorInvalidResourceHandle);
    if (which == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
    if (which != cudaFuncAttributeMaxDynamicSharedMemorySize) return keep(cudaErrorInvalidValue);
    Payload payload; // a limit of one kernel: its number, marked by a bit that no limit of the device has
    payload.add(static_cast<std::uint32_t>(number) | 0x8000'0000u).add(static_cast<std::uint64_t>(value));
    return keep(ask(Operation::function_limit, CALLER, payload).code);
}
cudaError_t cudaFuncSetCacheConfig(const void *, cudaFuncCache) { return cudaSuccess; }

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int threads,
                                                          std::size_t shared_bytes) {
    return occupancy(blocks, kernel, threads, shared_bytes, CALLER);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *kernel, int threads,
                                                                   std::size_t shared_bytes, unsigned) {
    return occupancy(blocks, kernel, threads, shared_bytes, CALLER);
}

cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

} // extern "C"
