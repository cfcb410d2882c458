// Streams, events and waiting (CUDA Runtime API, "Stream Management", "Event Management").
//
// Everything runs in the order of the calls, so there is nothing to wait for; what a device could still be doing is
// the session's business, and so are the times of events, which come from a model of a device.
#include "streams.hpp"
#include "capture.hpp"
#include "errors.hpp"
#include "managed.hpp"
#include "wire.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

namespace standin {
namespace {

constexpr int highest_priority = -5; // numbers count downwards
constexpr unsigned all_event_flags = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

// What is waited for: one of the numbers that the session knows too.
enum class Awaited : std::uint32_t { device = 0, stream = 1, event = 2 };

cudaError_t wait_for(Awaited what, const void *handle, const void *caller) {
    NEEDS_DEVICE;
    std::optional<cudaError_t> refusal;
    if (what == Awaited::device) refusal = captured_synchronise_all();
    if (what == Awaited::stream) refusal = captured_synchronise(static_cast<cudaStream_t>(const_cast<void *>(handle)));
    if (refusal) return keep_from(caller, *refusal);
    hand_over();
    Payload payload;
    Answer answer = ask(Operation::synchronise, caller, payload.add(what).add(handle));
    if (what == Awaited::device) device_idle();
    return keep(answer.code);
}

// The streams and events that there are, as far as this side knows. What is asked of one of them succeeds, and need not
// be waited for; anything else is asked, and gets its error from the session.
struct StreamFacts {
    unsigned flags = cudaStreamDefault;
    int priority = 0;
};
struct Handles {
    std::mutex mutex;
    std::map<const void *, StreamFacts> streams;
    std::set<const void *> events;
};

// Programs make and destroy them before `main` and behind it, so the table is made when it is needed, and stays.
Handles &handles() {
    static auto *table = new Handles;
    return *table;
}

bool are_there(cudaEvent_t event, cudaStream_t stream) {
    std::lock_guard guard(handles().mutex);
    bool is_own = is_default(stream) || stream == cudaStreamPerThread;
    return handles().events.count(event) && (is_own || handles().streams.count(stream));
}

cudaError_t of_both(Operation operation, const void *first, const void *second, bool there, const void *caller) {
    NEEDS_DEVICE;
    Payload payload;
    payload.add(first).add(second);
    if (!there) return keep(ask(operation, caller, payload).code);
    post(operation, caller, payload);
    return cudaSuccess;
}

template <typename Handle> cudaError_t create(Operation operation, Handle *handle, unsigned flags, const void *caller) {
    NEEDS_DEVICE;
    unsigned known = operation == Operation::event_create ? all_event_flags : unsigned{cudaStreamNonBlocking};
    if (!handle || flags & ~known) return keep(cudaErrorInvalidValue);
    Payload payload;
    Answer answer = ask(operation, caller, payload.add(std::uint32_t{flags}));
    if (answer.code != cudaSuccess) return keep(answer.code);
    *handle = reinterpret_cast<Handle>(answer.next<std::uint64_t>());
    std::lock_guard guard(handles().mutex);
    if (operation == Operation::event_create) handles().events.insert(*handle);
    else handles().streams[*handle] = {flags, 0};
    return cudaSuccess;
}

cudaError_t destroy(Operation operation, const void *handle, const void *caller) {
    NEEDS_DEVICE;
    {
        std::lock_guard guard(handles().mutex);
        handles().events.erase(handle), handles().streams.erase(handle);
    }
    Payload payload;
    return keep(ask(operation, caller, payload.add(handle)).code);
}

// What the host is to do after a stream's work is done at once: all of that work is done.
cudaError_t call_back(cudaStream_t stream, cudaHostFn_t function, void *data, const void *caller) {
    cudaError_t code = wait_for(Awaited::stream, stream, caller);
    if (code == cudaSuccess) function(data);
    return code;
}

// What a stream was made with; those that are never made have the defaults.
std::optional<StreamFacts> facts_of(cudaStream_t stream) {
    std::lock_guard guard(handles().mutex);
    auto place = handles().streams.find(stream);
    if (place != handles().streams.end()) return place->second;
    if (is_default(stream) || stream == cudaStreamPerThread) return StreamFacts{};
    return {};
}

template <typename Value, typename Read> cudaError_t fact(cudaStream_t stream, Value *value, Read read) {
    NEEDS_DEVICE;
    if (!value) return keep(cudaErrorInvalidValue);
    std::optional<StreamFacts> facts = facts_of(stream);
    if (!facts) return keep(cudaErrorInvalidResourceHandle);
    *value = read(*facts);
    return cudaSuccess;
}

template <typename Handle> cudaError_t simple(Operation operation, Handle handle, const void *caller) {
    NEEDS_DEVICE;
    Payload payload;
    return keep(ask(operation, caller, payload.add(handle)).code);
}

} // namespace

cudaError_t launch_on_host(cudaStream_t stream, cudaHostFn_t function, void *data, const void *caller) {
    auto work = [=](cudaStream_t on) { return call_back(on, function, data, caller); };
    if (auto code = captured(stream, work)) return keep_from(caller, *code);
    return work(stream);
}

std::optional<unsigned> flags_of(cudaStream_t stream) {
    std::optional<StreamFacts> facts = facts_of(stream);
    return facts ? std::optional<unsigned>(facts->flags) : std::nullopt;
}

void forget_handles() {
    std::lock_guard guard(handles().mutex);
    handles().streams.clear();
    handles().events.clear();
}

} // namespace standin

using namespace standin;

extern "C" {

cudaError_t cudaDeviceSynchronize() { return wait_for(Awaited::device, nullptr, CALLER); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return wait_for(Awaited::stream, stream, CALLER); }
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return wait_for(Awaited::event, event, CALLER); }

cudaError_t cudaStreamCreate(cudaStream_t *stream) { return create(Operation::stream_create, stream, 0, CALLER); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    return create(Operation::stream_create, stream, flags, CALLER);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
    cudaError_t code = create(Operation::stream_create, stream, flags, CALLER);
    if (code != cudaSuccess) return code;
    std::lock_guard guard(handles().mutex);
    handles().streams[*stream].priority = std::clamp(priority, highest_priority, 0);
    return cudaSuccess;
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags) {
    return fact(stream, flags, [](const StreamFacts &facts) { return facts.flags; });
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
    return fact(stream, priority, [](const StreamFacts &facts) { return facts.priority; });
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
    return fact(stream, device, [](const StreamFacts &) { return 0; });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return destroy(Operation::stream_destroy, stream, CALLER); }
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    if (auto refusal = captured_synchronise(stream)) return keep(*refusal);
    return simple(Operation::stream_query, stream, CALLER);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    if (auto code = captured_wait(stream, event)) return keep(*code);
    return of_both(Operation::stream_wait, stream, event, are_there(event, stream), CALLER);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    NEEDS_DEVICE;
    if (least) *least = 0;
    if (greatest) *greatest = highest_priority;
    return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    return launch_on_host(stream, function, data, CALLER);
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned) {
    cudaError_t code = wait_for(Awaited::stream, stream, CALLER);
    callback(stream, code, data);
    return code;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) { return create(Operation::event_create, event, 0, CALLER); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
    return create(Operation::event_create, event, flags, CALLER);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) { return destroy(Operation::event_destroy, event, CALLER); }
cudaError_t cudaEventQuery(cudaEvent_t event) { return simple(Operation::event_query, event, CALLER); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    if (auto code = captured_record(event, stream)) return keep(*code);
    return of_both(Operation::event_record, event, stream, are_there(event, stream), CALLER);
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
    if (auto code = captured_record(event, stream)) return keep(*code);
    return of_both(Operation::event_record, event, stream, are_there(event, stream), CALLER);
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    NEEDS_DEVICE;
    if (!milliseconds) return keep(cudaErrorInvalidValue);
    Payload payload;
    Answer answer = ask(Operation::event_elapsed, CALLER, payload.add(start).add(end));
    if (answer.code == cudaSuccess) *milliseconds = answer.next<float>();
    return keep(answer.code);
}

} // extern "C"
