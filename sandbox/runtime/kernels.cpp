// Registration, as nvcc's own code calls it (crt/host_runtime.h), and launches.
#include "kernels.hpp"

#include "capture.hpp"
#include "errors.hpp"
#include "managed.hpp"
#include "wire.hpp"

#include <mutex>
#include <unordered_map>
#include <vector>

namespace standin {
namespace {

struct Kernel {
    std::uint32_t module;
    const char *name;
    std::int64_t number = unknown;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> parameters; // offset and size, as the compiler laid them out
    std::uint32_t parameter_bytes = 0;
    static constexpr std::int64_t unknown = -2, missing = -1;
};

struct Variable {
    std::uint32_t module;
    const char *name;
    std::uint64_t size;
    void **managed; // where the program keeps its pointer to a __managed__ variable; null for others
    bool constant = false;
    bool shared = false;
    bool named = false; // whether the session knows of its shadow
};

struct Registered {
    std::mutex mutex;
    std::unordered_map<const void *, Kernel> kernels;
    std::unordered_map<const void *, Variable> variables;
    std::uint32_t modules = 0;
};

// Registration happens before `main`, in any order of files, so the table is made by whoever needs it first.
Registered &registered() {
    static auto *table = new Registered;
    return *table;
}

struct Configuration {
    dim3 grid, block;
    std::size_t shared_bytes;
    void *stream;
    const void *caller;
};
thread_local std::vector<Configuration> configurations;
thread_local const void *launching = nullptr; // the line with <<<…>>> that the thread is at

std::uint32_t module_of(void **handle) { return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(handle)) - 1; }

Kernel *kernel(const void *stub, const void *caller) {
    Registered &table = registered();
    std::lock_guard guard(table.mutex);
    auto found = table.kernels.find(stub);
    if (found == table.kernels.end()) return nullptr;
    Kernel &kernel = found->second;
    if (kernel.number != Kernel::unknown) return &kernel;
    Payload question;
    Answer answer = ask(Operation::kernel, caller, question.add(kernel.module).add_text(kernel.name));
    kernel.number = Kernel::missing;
    if (answer.code != cudaSuccess) return &kernel;
    kernel.number = answer.next<std::uint32_t>();
    auto count = answer.next<std::uint32_t>();
    for (std::uint32_t index = 0; index < count; ++index) {
        auto offset = answer.next<std::uint32_t>(), size = answer.next<std::uint32_t>();
        kernel.parameters.emplace_back(offset, size);
        kernel.parameter_bytes = offset + size;
    }
    return &kernel;
}

cudaError_t start(std::uint32_t number, const Configuration &how, const std::vector<unsigned char> &parameters,
                  bool cooperative) {
    hand_over();
    Payload payload;
    payload.add(number);
    payload.add(how.grid.x).add(how.grid.y).add(how.grid.z).add(how.block.x).add(how.block.y).add(how.block.z);
    payload.add(std::uint64_t{how.shared_bytes}).add(how.stream).add(static_cast<std::uint32_t>(cooperative));
    payload.add_bytes(parameters.data(), parameters.size());
    cudaError_t code = ask(Operation::launch, how.caller, payload).code;
    if (code == cudaSuccess) device_at_work();
    return keep_from(how.caller, code);
}

cudaError_t launch(const void *stub, const Configuration &how, void **arguments, bool cooperative) {
    NEEDS_DEVICE;
    Kernel *launched = kernel(stub, how.caller);
    if (!launched || launched->number < 0) return keep(cudaErrorInvalidResourceHandle);
    std::vector<unsigned char> bytes(launched->parameter_bytes);
    for (std::size_t index = 0; index < launched->parameters.size(); ++index) {
        auto [offset, size] = launched->parameters[index];
        __builtin_memcpy(bytes.data() + offset, arguments[index], size);
        if (size == sizeof(void *)) {
            void *pointer;
            __builtin_memcpy(&pointer, arguments[index], size);
            name_symbol(pointer, how.caller);
        }
    }
    auto work = [=, number = static_cast<std::uint32_t>(launched->number)](cudaStream_t stream) {
        Configuration there = how;
        there.stream = stream;
        return start(number, there, bytes, cooperative);
    };
    auto *stream = static_cast<cudaStream_t>(how.stream);
    if (auto code = captured(stream, work)) return keep_from(how.caller, *code);
    return work(stream);
}

Place place_of(const void *symbol, const void *caller, Variable &variable) {
    Payload question;
    question.add(variable.module).add_text(variable.name);
    Answer answer = ask(Operation::variable, caller, question);
    Place place{answer.code, answer.next<std::uint64_t>(), answer.next<std::uint64_t>()};
    if (place.code == cudaSuccess && variable.managed && !variable.shared) {
        variable.shared = share(place.address, place.size, Sharing::managed);
        *variable.managed = reinterpret_cast<void *>(place.address);
    }
    (void)symbol;
    return place;
}

} // namespace

cudaError_t launch_kernel(const void *stub, dim3 grid, dim3 block, std::size_t shared_bytes, void **arguments,
                          cudaStream_t stream, const void *caller) {
    return launch(stub, {grid, block, shared_bytes, stream, caller}, arguments, false);
}

Place variable(const void *symbol, const void *caller) {
    Registered &table = registered();
    std::lock_guard guard(table.mutex);
    auto found = table.variables.find(symbol);
    if (found == table.variables.end()) return {cudaErrorInvalidSymbol, 0, 0};
    return place_of(symbol, caller, found->second);
}

void name_symbol(const void *address, const void *caller) {
    if (on_device(address)) return;
    Registered &table = registered();
    std::lock_guard guard(table.mutex);
    auto number = reinterpret_cast<std::uint64_t>(address);
    for (auto &[shadow, variable] : table.variables) {
        auto start = reinterpret_cast<std::uint64_t>(shadow);
        if (variable.managed || variable.named || number - start >= variable.size) continue;
        Payload payload;
        payload.add(variable.module).add(std::uint32_t{variable.constant}).add(start).add(variable.size);
        ask(Operation::symbol, caller, payload.add_text(variable.name));
        variable.named = true;
    }
}

std::int64_t kernel_number(const void *stub, const void *caller) {
    Kernel *found = kernel(stub, caller);
    return found ? found->number : Kernel::missing;
}

void forget_kernels() {
    Registered &table = registered();
    std::lock_guard guard(table.mutex);
    for (auto &[stub, kernel] : table.kernels) kernel.number = Kernel::unknown, kernel.parameters.clear();
    for (auto &[symbol, variable] : table.variables) variable.shared = variable.named = false;
}

} // namespace standin

using namespace standin;

extern "C" {

void **__cudaRegisterFatBinary(void *) {
    return reinterpret_cast<void **>(static_cast<std::uintptr_t>(++registered().modules));
}
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}

void __cudaRegisterFunction(void **handle, const char *stub, char *, const char *name, int, uint3 *, uint3 *, dim3 *,
                            dim3 *, int *) {
    Kernel kernel;
    kernel.module = module_of(handle), kernel.name = name;
    registered().kernels[stub] = kernel;
}

void __cudaRegisterVar(void **handle, char *shadow, char *, const char *name, int, std::size_t size, int constant,
                       int) {
    registered().variables[shadow] = Variable{module_of(handle), name, size, nullptr, constant != 0};
}

void __cudaRegisterManagedVar(void **handle, void **pointer, char *, const char *name, int, std::size_t size, int, int) {
    registered().variables[pointer] = Variable{module_of(handle), name, size, pointer};
}

// Called before a program's first use of any __managed__ variable.
char __cudaInitModule(void **handle) {
    Registered &table = registered();
    std::lock_guard guard(table.mutex);
    for (auto &[symbol, variable] : table.variables) {
        if (variable.managed && !variable.shared && variable.module == module_of(handle)) {
            place_of(symbol, CALLER, variable);
        }
    }
    return 1;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, void *stream) {
    configurations.push_back({grid, block, shared_bytes, stream, CALLER});
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, std::size_t *shared_bytes, void *stream) {
    if (configurations.empty()) return keep(cudaErrorMissingConfiguration);
    const Configuration &last = configurations.back();
    *grid = last.grid, *block = last.block, *shared_bytes = last.shared_bytes;
    *static_cast<void **>(stream) = last.stream;
    launching = last.caller;
    configurations.pop_back();
    return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *handle, const void *stub) {
    *handle = reinterpret_cast<cudaKernel_t>(const_cast<void *>(stub));
    return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t handle, dim3 grid, dim3 block, void **arguments, std::size_t shared_bytes,
                               cudaStream_t stream) {
    return launch(handle, {grid, block, shared_bytes, stream, launching}, arguments, false);
}

cudaError_t cudaLaunchKernel(const void *stub, dim3 grid, dim3 block, void **arguments, std::size_t shared_bytes,
                             cudaStream_t stream) {
    return launch(stub, {grid, block, shared_bytes, stream, CALLER}, arguments, false);
}

cudaError_t cudaLaunchCooperativeKernel(const void *stub, dim3 grid, dim3 block, void **arguments,
                                        std::size_t shared_bytes, cudaStream_t stream) {
    return launch(stub, {grid, block, shared_bytes, stream, CALLER}, arguments, true);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *how, const void *stub, void **arguments) {
    if (!how) return keep(cudaErrorInvalidValue);
    if (how->numAttrs) unsupported("cudaLaunchKernelExC with attributes", CALLER);
    return launch(stub, {how->gridDim, how->blockDim, how->dynamicSmemBytes, how->stream, CALLER}, arguments, false);
}

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
    NEEDS_DEVICE;
    Place place = variable(symbol, CALLER);
    if (place.code == cudaSuccess) *address = reinterpret_cast<void *>(place.address);
    return keep(place.code);
}

cudaError_t cudaGetSymbolSize(std::size_t *size, const void *symbol) {
    NEEDS_DEVICE;
    Place place = variable(symbol, CALLER);
    if (place.code == cudaSuccess) *size = place.size;
    return keep(place.code);
}

} // extern "C"
