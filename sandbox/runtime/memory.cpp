// Memory of the device: taking it, giving it back, copies and fills (CUDA Runtime API, "Memory Management").
#include "capture.hpp"
#include "errors.hpp"
#include "kernels.hpp"
#include "managed.hpp"
#include "memory.hpp"
#include "wire.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>

namespace standin {
namespace {

constexpr std::size_t pitch_step = 512; // what rows are aligned to by cudaMallocPitch on devices of today

// A copy of memory that is not pinned goes through a buffer of the driver's (staged), and overlaps with nothing.
enum class Waiting : std::uint32_t { waits = 0, asynchronous = 1, staged = 2 };

// What cudaHostRegister was given, and how many bytes of it.
std::map<const void *, std::size_t> registered_memory;
std::mutex registered_mutex;

// What a program sets of a pool: whether, and from how many bytes on, what is freed goes back. Nothing depends on it
// here, for memory is taken from the device each time.
struct Pool {
    std::uint64_t release_threshold = 0;
    int reuse[3] = {1, 1, 1};
};

Pool default_pool;
std::map<cudaMemPool_t, Pool> own_pools;
std::mutex pools_mutex;

cudaMemPool_t the_default() { return reinterpret_cast<cudaMemPool_t>(&default_pool); }

// Needs `pools_mutex`; null for what is no pool.
Pool *pool_of(cudaMemPool_t handle) {
    if (handle == the_default()) return &default_pool;
    auto own = own_pools.find(handle);
    return own == own_pools.end() ? nullptr : &own->second;
}

// Where an attribute of a pool is kept; null for one that the driver counts.
void *attribute_of(Pool &pool, cudaMemPoolAttr which) {
    if (which == cudaMemPoolAttrReleaseThreshold) return &pool.release_threshold;
    bool reuses = which >= cudaMemPoolReuseFollowEventDependencies &&
                  which <= cudaMemPoolReuseAllowInternalDependencies;
    return reuses ? &pool.reuse[which - cudaMemPoolReuseFollowEventDependencies] : nullptr;
}

// Whether all of these bytes were registered together.
bool is_registered(const void *address, std::size_t bytes) {
    std::lock_guard guard(registered_mutex);
    auto behind = registered_memory.upper_bound(address);
    if (behind == registered_memory.begin()) return false;
    auto [start, size] = *std::prev(behind);
    auto offset = static_cast<std::size_t>(static_cast<const char *>(address) - static_cast<const char *>(start));
    return offset < size && bytes <= size - offset;
}

struct Copy {
    void *to;
    std::size_t to_pitch;
    const void *from;
    std::size_t from_pitch, width, height;
    cudaMemcpyKind kind;
    cudaStream_t stream;
    Waiting waiting;
    const void *caller;
};

cudaError_t allocate(void **address, std::size_t size, std::uint32_t kind, cudaStream_t stream, const void *caller) {
    NEEDS_DEVICE;
    if (!address) return keep_from(caller, cudaErrorInvalidValue);
    if (is_captured(stream)) unsupported("memory that is taken in a stream that is captured", caller);
    Payload payload;
    Answer answer = ask(Operation::allocate, caller, payload.add(std::uint64_t{size}).add(kind).add(stream));
    if (answer.code != cudaSuccess) return keep_from(caller, answer.code);
    auto start = answer.next<std::uint64_t>();
    if (kind && size && !share(start, size, static_cast<Sharing>(kind))) return keep_from(caller, cudaErrorMemoryAllocation);
    *address = reinterpret_cast<void *>(start);
    return cudaSuccess;
}

cudaError_t release(void *address, std::uint32_t kind, cudaStream_t stream, const void *caller) {
    NEEDS_DEVICE;
    if (!address) return cudaSuccess;
    if (is_captured(stream)) unsupported("memory that is freed in a stream that is captured", caller);
    if (on_device(address)) hand_over();
    Payload payload;
    cudaError_t code = ask(Operation::free, caller, payload.add(address).add(kind).add(stream)).code;
    if (code == cudaSuccess) unshare(reinterpret_cast<std::uint64_t>(address));
    return keep_from(caller, code);
}

// A copy waits for the device where CUDA's does; shared memory is at the device while it is copied.
cudaError_t copy_now(const Copy &copy) {
    NEEDS_DEVICE;
    bool to_device = on_device(copy.to), from_device = on_device(copy.from);
    name_symbol(copy.to, copy.caller), name_symbol(copy.from, copy.caller);
    hand_over();
    const void *on_host = to_device ? copy.from : copy.to;
    std::size_t extent = (copy.height - 1) * (to_device ? copy.from_pitch : copy.to_pitch) + copy.width;
    bool is_staged = copy.waiting == Waiting::asynchronous && to_device != from_device &&
                     !is_registered(on_host, extent);
    Payload payload;
    payload.add(copy.to).add(std::uint64_t{copy.to_pitch}).add(copy.from).add(std::uint64_t{copy.from_pitch});
    payload.add(std::uint64_t{copy.width}).add(std::uint64_t{copy.height});
    payload.add(static_cast<std::uint32_t>(copy.kind)).add(copy.stream);
    payload.add(is_staged ? Waiting::staged : copy.waiting);
    Rows to{copy.to, copy.to_pitch, copy.width, copy.height};
    Rows from{const_cast<void *>(copy.from), copy.from_pitch, copy.width, copy.height};
    cudaError_t code;
    if (to_device && from_device) {
        code = ask(Operation::copy_within, copy.caller, payload).code;
    } else if (to_device) {
        code = ask_with(Operation::copy_in, copy.caller, payload, from).code;
    } else if (from_device) {
        code = ask_for(Operation::copy_out, copy.caller, payload, to).code;
    } else {
        code = ask(Operation::copy_on_host, copy.caller, payload).code;
        for (std::size_t row = 0; code == cudaSuccess && row < copy.height; ++row) {
            std::memmove(static_cast<char *>(copy.to) + row * copy.to_pitch,
                         static_cast<const char *>(copy.from) + row * copy.from_pitch, copy.width);
        }
    }
    if (copy.waiting == Waiting::asynchronous && code == cudaSuccess) device_at_work();
    return keep_from(copy.caller, code);
}

cudaError_t copy(const Copy &copy) {
    NEEDS_DEVICE;
    if (!copy.width || !copy.height) return cudaSuccess;
    if (static_cast<unsigned>(copy.kind) > cudaMemcpyDefault) return keep_from(copy.caller, cudaErrorInvalidMemcpyDirection);
    if (copy.height > 1 && copy.width > std::min(copy.to_pitch, copy.from_pitch)) {
        return keep_from(copy.caller, cudaErrorInvalidPitchValue);
    }
    auto work = [copy](cudaStream_t stream) {
        Copy there = copy;
        there.stream = stream;
        return copy_now(there);
    };
    if (auto code = captured(copy.stream, work)) return keep_from(copy.caller, *code);
    return copy_now(copy);
}

cudaError_t plain(void *to, const void *from, std::size_t size, cudaMemcpyKind kind, cudaStream_t stream,
                  Waiting waiting, const void *caller) {
    return copy({to, size, from, size, size, 1, kind, stream, waiting, caller});
}

cudaError_t fill(void *address, std::size_t pitch, int value, std::size_t width, std::size_t height,
                 cudaStream_t stream, Waiting waiting, const void *caller) {
    NEEDS_DEVICE;
    if (!width || !height) return cudaSuccess;
    name_symbol(address, caller);
    auto work = [=](cudaStream_t on) {
        hand_over();
        Payload payload;
        payload.add(address).add(std::uint64_t{pitch}).add(static_cast<std::uint32_t>(value));
        payload.add(std::uint64_t{width}).add(std::uint64_t{height}).add(on).add(waiting);
        cudaError_t code = ask(Operation::fill, caller, payload).code;
        if (code == cudaSuccess) device_at_work();
        return keep_from(caller, code);
    };
    if (auto code = captured(stream, work)) return keep_from(caller, *code);
    return work(stream);
}

// A copy to or from a variable: `offset` bytes behind its start, and never beyond its end.
cudaError_t with_symbol(const void *symbol, void *to, const void *from, std::size_t size, std::size_t offset,
                        cudaMemcpyKind kind, cudaStream_t stream, Waiting waiting, const void *caller) {
    NEEDS_DEVICE;
    Place place = variable(symbol, caller);
    if (place.code != cudaSuccess) return keep_from(caller, place.code);
    if (offset > place.size || size > place.size - offset) return keep_from(caller, cudaErrorInvalidValue);
    void *start = reinterpret_cast<void *>(place.address + offset);
    return plain(to ? to : start, from ? from : start, size, kind, stream, waiting, caller);
}

cudaError_t pitched(void **address, std::size_t *pitch, std::size_t width, std::size_t height, const void *caller) {
    if (!pitch) return keep_from(caller, cudaErrorInvalidValue);
    std::size_t row = (width + pitch_step - 1) / pitch_step * pitch_step;
    if (height && row > std::numeric_limits<std::size_t>::max() / height) return keep_from(caller, cudaErrorMemoryAllocation);
    *pitch = row;
    return allocate(address, row * height, 0, nullptr, caller);
}

// The bytes of one row after another, plane by plane: where the first of them lies, and how far it is to the next plane.
struct Planes {
    char *first;
    std::size_t pitch, plane;

    Planes(const cudaPitchedPtr &memory, const cudaPos &at)
        : first(static_cast<char *>(memory.ptr) + (at.z * memory.ysize + at.y) * memory.pitch + at.x),
          pitch(memory.pitch), plane(memory.pitch * memory.ysize) {}
};

bool fits(const cudaPitchedPtr &memory, const cudaPos &at, const cudaExtent &extent) {
    return extent.depth <= 1 || at.y + extent.height <= memory.ysize;
}

cudaError_t copy_planes(const cudaMemcpy3DParms *wanted, cudaStream_t stream, Waiting waiting, const void *caller) {
    NEEDS_DEVICE;
    if (!wanted) return keep_from(caller, cudaErrorInvalidValue);
    if (wanted->srcArray || wanted->dstArray) unsupported("cudaMemcpy3D of a cudaArray", caller);
    const cudaExtent &extent = wanted->extent;
    bool fit = fits(wanted->srcPtr, wanted->srcPos, extent) && fits(wanted->dstPtr, wanted->dstPos, extent);
    if (!wanted->srcPtr.ptr || !wanted->dstPtr.ptr || !fit) return keep_from(caller, cudaErrorInvalidValue);
    Planes from(wanted->srcPtr, wanted->srcPos), to(wanted->dstPtr, wanted->dstPos);
    for (std::size_t number = 0; number < extent.depth; ++number) {
        cudaError_t code = copy({to.first + number * to.plane, to.pitch, from.first + number * from.plane, from.pitch,
                                 extent.width, extent.height, wanted->kind, stream, waiting, caller});
        if (code != cudaSuccess) return code;
    }
    return cudaSuccess;
}

cudaError_t fill_planes(cudaPitchedPtr memory, int value, cudaExtent extent, cudaStream_t stream, Waiting waiting,
                        const void *caller) {
    NEEDS_DEVICE;
    cudaPos start{};
    if (!fits(memory, start, extent)) return keep_from(caller, cudaErrorInvalidValue);
    Planes planes(memory, start);
    for (std::size_t number = 0; number < extent.depth; ++number) {
        cudaError_t code = fill(planes.first + number * planes.plane, planes.pitch, value, extent.width, extent.height,
                                stream, waiting, caller);
        if (code != cudaSuccess) return code;
    }
    return cudaSuccess;
}

} // namespace

cudaError_t copy_rows(void *to, std::size_t to_pitch, const void *from, std::size_t from_pitch, std::size_t width,
                      std::size_t height, cudaMemcpyKind kind, const void *caller, std::optional<cudaStream_t> stream) {
    Waiting waiting = stream ? Waiting::asynchronous : Waiting::waits;
    return copy({to, to_pitch, from, from_pitch, width, height, kind, stream.value_or(nullptr), waiting, caller});
}

cudaError_t fill_rows(void *address, std::size_t pitch, int value, std::size_t width, std::size_t height,
                      cudaStream_t stream, const void *caller) {
    return fill(address, pitch, value, width, height, stream, Waiting::asynchronous, caller);
}

cudaError_t copy_planes_of(const cudaMemcpy3DParms *wanted, cudaStream_t stream, const void *caller) {
    return copy_planes(wanted, stream, Waiting::asynchronous, caller);
}

cudaError_t copy_of_symbol(const void *symbol, void *to, const void *from, std::size_t size, std::size_t offset,
                           cudaMemcpyKind kind, cudaStream_t stream, const void *caller) {
    return with_symbol(symbol, to, from, size, offset, kind, stream, Waiting::asynchronous, caller);
}

} // namespace standin

using namespace standin;
constexpr auto managed = static_cast<std::uint32_t>(Sharing::managed), pinned = static_cast<std::uint32_t>(Sharing::pinned);

extern "C" {

cudaError_t cudaMalloc(void **address, std::size_t size) { return allocate(address, size, 0, nullptr, CALLER); }
cudaError_t cudaMallocAsync(void **address, std::size_t size, cudaStream_t stream) {
    return allocate(address, size, 0, stream, CALLER);
}
cudaError_t cudaMallocFromPoolAsync(void **address, std::size_t size, cudaMemPool_t pool, cudaStream_t stream) {
    {
        std::lock_guard guard(pools_mutex);
        if (!pool_of(pool)) return keep(cudaErrorInvalidValue);
    }
    return allocate(address, size, 0, stream, CALLER);
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int number) {
    NEEDS_DEVICE;
    if (number) return keep(cudaErrorInvalidDevice);
    if (!pool) return keep(cudaErrorInvalidValue);
    *pool = the_default();
    return cudaSuccess;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *properties) {
    NEEDS_DEVICE;
    if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned)
        return keep(cudaErrorInvalidValue);
    static std::uintptr_t handles = reinterpret_cast<std::uintptr_t>(&default_pool);
    std::lock_guard guard(pools_mutex);
    *pool = reinterpret_cast<cudaMemPool_t>(handles += sizeof default_pool);
    own_pools[*pool] = {};
    return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    NEEDS_DEVICE;
    std::lock_guard guard(pools_mutex);
    return keep(own_pools.erase(pool) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void *value) {
    NEEDS_DEVICE;
    std::lock_guard guard(pools_mutex);
    Pool *own = pool_of(pool);
    if (!own || !value) return keep(cudaErrorInvalidValue);
    void *kept = attribute_of(*own, which);
    if (!kept) unsupported("cudaMemPoolSetAttribute", CALLER);
    std::memcpy(kept, value, which == cudaMemPoolAttrReleaseThreshold ? sizeof own->release_threshold : sizeof(int));
    return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void *value) {
    NEEDS_DEVICE;
    std::lock_guard guard(pools_mutex);
    Pool *own = pool_of(pool);
    if (!own || !value) return keep(cudaErrorInvalidValue);
    void *kept = attribute_of(*own, which);
    if (!kept) unsupported("cudaMemPoolGetAttribute", CALLER);
    std::memcpy(value, kept, which == cudaMemPoolAttrReleaseThreshold ? sizeof own->release_threshold : sizeof(int));
    return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
    NEEDS_DEVICE;
    std::lock_guard guard(pools_mutex);
    return keep(pool_of(pool) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMallocManaged(void **address, std::size_t size, unsigned) {
    return allocate(address, size, managed, nullptr, CALLER);
}
cudaError_t cudaMallocHost(void **address, std::size_t size) {
    return allocate(address, size, pinned, nullptr, CALLER);
}
cudaError_t cudaHostAlloc(void **address, std::size_t size, unsigned) {
    return allocate(address, size, pinned, nullptr, CALLER);
}
cudaError_t cudaMallocPitch(void **address, std::size_t *pitch, std::size_t width, std::size_t height) {
    return pitched(address, pitch, width, height, CALLER);
}
cudaError_t cudaMalloc3D(cudaPitchedPtr *pitched_pointer, cudaExtent extent) {
    if (!pitched_pointer) return keep(cudaErrorInvalidValue);
    pitched_pointer->xsize = extent.width, pitched_pointer->ysize = extent.height;
    return pitched(&pitched_pointer->ptr, &pitched_pointer->pitch, extent.width, extent.height * extent.depth, CALLER);
}
cudaError_t cudaFree(void *address) { return release(address, 0, nullptr, CALLER); }
cudaError_t cudaFreeAsync(void *address, cudaStream_t stream) { return release(address, 0, stream, CALLER); }
cudaError_t cudaFreeHost(void *address) { return release(address, pinned, nullptr, CALLER); }

// Ordinary memory of the host stays what it is; a kernel cannot reach it here by its own address.
cudaError_t cudaHostRegister(void *address, std::size_t size, unsigned) {
    NEEDS_DEVICE;
    if (!address || !size) return keep(cudaErrorInvalidValue);
    std::lock_guard guard(registered_mutex);
    return keep(registered_memory.emplace(address, size).second ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered);
}
cudaError_t cudaHostUnregister(void *address) {
    NEEDS_DEVICE;
    if (!address) return keep(cudaErrorInvalidValue);
    std::lock_guard guard(registered_mutex);
    return keep(registered_memory.erase(address) ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned) {
    NEEDS_DEVICE;
    if (!device || !host) return keep(cudaErrorInvalidValue);
    if (!on_device(host)) unsupported("cudaHostGetDevicePointer of registered memory", CALLER);
    *device = host;
    return cudaSuccess;
}
cudaError_t cudaHostGetFlags(unsigned *flags, void *host) {
    NEEDS_DEVICE;
    if (!flags || !on_device(host)) return keep(cudaErrorInvalidValue);
    *flags = cudaHostAllocMapped;
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, std::size_t size, cudaMemcpyKind kind) {
    return plain(to, from, size, kind, nullptr, Waiting::waits, CALLER);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
    return plain(to, from, size, kind, stream, Waiting::asynchronous, CALLER);
}
cudaError_t cudaMemcpy2D(void *to, std::size_t to_pitch, const void *from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind) {
    return copy({to, to_pitch, from, from_pitch, width, height, kind, nullptr, Waiting::waits, CALLER});
}
cudaError_t cudaMemcpy2DAsync(void *to, std::size_t to_pitch, const void *from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    return copy({to, to_pitch, from, from_pitch, width, height, kind, stream, Waiting::asynchronous, CALLER});
}
cudaError_t cudaMemcpyPeer(void *to, int, const void *from, int, std::size_t size) {
    return plain(to, from, size, cudaMemcpyDeviceToDevice, nullptr, Waiting::waits, CALLER);
}
cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, std::size_t size, cudaStream_t stream) {
    return plain(to, from, size, cudaMemcpyDeviceToDevice, stream, Waiting::asynchronous, CALLER);
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *wanted) {
    return copy_planes(wanted, nullptr, Waiting::waits, CALLER);
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *wanted, cudaStream_t stream) {
    return copy_planes(wanted, stream, Waiting::asynchronous, CALLER);
}
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, std::size_t size, std::size_t offset,
                               cudaMemcpyKind kind) {
    return with_symbol(symbol, nullptr, from, size, offset, kind, nullptr, Waiting::waits, CALLER);
}
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, std::size_t size, std::size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
    return with_symbol(symbol, nullptr, from, size, offset, kind, stream, Waiting::asynchronous, CALLER);
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, std::size_t size, std::size_t offset,
                                 cudaMemcpyKind kind) {
    return with_symbol(symbol, to, nullptr, size, offset, kind, nullptr, Waiting::waits, CALLER);
}
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, std::size_t size, std::size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
    return with_symbol(symbol, to, nullptr, size, offset, kind, stream, Waiting::asynchronous, CALLER);
}

cudaError_t cudaMemset(void *address, int value, std::size_t size) {
    return fill(address, size, value, size, 1, nullptr, Waiting::waits, CALLER);
}
cudaError_t cudaMemsetAsync(void *address, int value, std::size_t size, cudaStream_t stream) {
    return fill(address, size, value, size, 1, stream, Waiting::asynchronous, CALLER);
}
cudaError_t cudaMemset2D(void *address, std::size_t pitch, int value, std::size_t width, std::size_t height) {
    return fill(address, pitch, value, width, height, nullptr, Waiting::waits, CALLER);
}
cudaError_t cudaMemset2DAsync(void *address, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream) {
    return fill(address, pitch, value, width, height, stream, Waiting::asynchronous, CALLER);
}

cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent) {
    return fill_planes(memory, value, extent, nullptr, Waiting::waits, CALLER);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent, cudaStream_t stream) {
    return fill_planes(memory, value, extent, stream, Waiting::asynchronous, CALLER);
}

cudaError_t cudaMemGetInfo(std::size_t *free_bytes, std::size_t *total) {
    NEEDS_DEVICE;
    Answer answer = ask(Operation::memory_info, CALLER);
    if (free_bytes) *free_bytes = answer.next<std::uint64_t>();
    if (total) *total = answer.next<std::uint64_t>();
    return keep(answer.code);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer) {
    NEEDS_DEVICE;
    if (!attributes) return keep(cudaErrorInvalidValue);
    Payload payload;
    Answer answer = ask(Operation::pointer, CALLER, payload.add(pointer));
    std::memset(attributes, 0, sizeof *attributes);
    attributes->type = static_cast<cudaMemoryType>(answer.next<std::uint32_t>());
    bool to_device = attributes->type != cudaMemoryTypeUnregistered;
    bool to_host = attributes->type != cudaMemoryTypeDevice;
    attributes->devicePointer = to_device ? const_cast<void *>(pointer) : nullptr;
    attributes->hostPointer = to_host ? const_cast<void *>(pointer) : nullptr;
    return keep(answer.code);
}

// Advice changes nothing but speed.
cudaError_t cudaMemPrefetchAsync(const void *, std::size_t, cudaMemLocation, unsigned, cudaStream_t) {
    NEEDS_DEVICE;
    return cudaSuccess;
}
cudaError_t cudaMemAdvise(const void *, std::size_t, cudaMemoryAdvise, cudaMemLocation) {
    NEEDS_DEVICE;
    return cudaSuccess;
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void *, std::size_t, unsigned) {
    NEEDS_DEVICE;
    return cudaSuccess;
}

} // extern "C"
