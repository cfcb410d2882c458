// Stream capture and graphs (CUDA C++ guide, "Creating a Graph Using Stream Capture"; CUDA Runtime API, "Graph
// Management").
//
// A graph is what its streams were asked for, in the order of the calls. To launch it is to ask for it again, on streams
// of the graph's own beside the one that it is launched into: the session sees launches, copies, events and waits like
// any others, each with the line that it was written on.
#include "capture.hpp"
#include "errors.hpp"
#include "library.hpp"
#include "streams.hpp"

#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace standin {

// The streams and events of one graph that is launched, by those that were captured.
struct Replay {
    std::map<cudaStream_t, cudaStream_t> streams;
    std::map<cudaEvent_t, cudaEvent_t> events;
    const void *caller = nullptr; // who launches it
};
using Step = std::function<cudaError_t(const Replay &)>;

struct Recording {
    cudaStream_t origin;
    std::vector<Step> steps;
    std::size_t nodes = 0; // steps but for events
    Replay used;           // what stands for what is known once it is instantiated
};

struct Executable {
    Recording recording;
    cudaEvent_t finished; // the last launch of it, which the next one waits for
};

namespace {

struct Capture {
    Recording recording;
    bool is_broken = false;
};
using SharedCapture = std::shared_ptr<Capture>;

// A stream that is captured: how much it was asked for, and whether another one waits for all of that.
struct Member {
    SharedCapture capture;
    bool is_blocking;
    std::size_t asked = 0;
    bool is_joined = false;
};
struct Mark {
    SharedCapture capture;
    cudaStream_t stream;
    std::size_t asked;
};

struct Captures {
    std::mutex mutex;
    std::map<cudaStream_t, Member> members;
    std::map<cudaEvent_t, Mark> marks;
    std::set<cudaEvent_t> recorded; // outside of captures; to wait for any other is no wait
    LiveHandles<Recording> graphs;
    LiveHandles<Executable> executables;
};
Captures &captures() {
    static auto *table = new Captures;
    return *table;
}

cudaError_t invalidated(Capture &capture, cudaError_t code) {
    capture.is_broken = true;
    return code;
}

void add(Member &member, Step step) {
    member.capture->recording.steps.push_back(std::move(step));
    ++member.asked;
    member.is_joined = false;
}

// The default stream waits for blocking streams, and must not wait for one that is captured. Needs the mutex, as all
// below do.
std::optional<cudaError_t> refused_by_default(cudaStream_t stream) {
    if (!is_default(stream)) return {};
    for (auto &[handle, member] : captures().members) {
        if (member.is_blocking) return invalidated(*member.capture, cudaErrorStreamCaptureImplicit);
    }
    return {};
}

// The capture that a stream is in, unless something has broken it already; or why there is none.
Member *member_of(cudaStream_t stream, std::optional<cudaError_t> &refusal) {
    auto place = captures().members.find(stream);
    if (place == captures().members.end()) {
        refusal = refused_by_default(stream);
        return nullptr;
    }
    if (place->second.capture->is_broken) {
        refusal = cudaErrorStreamCaptureInvalidated;
        return nullptr;
    }
    return &place->second;
}

template <typename Key, typename Value> void forget(std::map<Key, Value> &map, const SharedCapture &capture) {
    for (auto place = map.begin(); place != map.end();) {
        place = place->second.capture == capture ? map.erase(place) : std::next(place);
    }
}

bool is_blocking(cudaStream_t stream) { return !(flags_of(stream).value_or(0) & cudaStreamNonBlocking); }

bool has_unjoined(const SharedCapture &capture) {
    for (auto &[stream, member] : captures().members) {
        if (member.capture == capture && stream != capture->recording.origin && !member.is_joined) return true;
    }
    return false;
}

template <typename Handle> cudaError_t make(Operation operation, unsigned flags, const void *caller, Handle &handle) {
    Answer answer = ask(operation, caller, Payload().add(std::uint32_t{flags}));
    if (answer.code == cudaSuccess) handle = reinterpret_cast<Handle>(answer.next<std::uint64_t>());
    return answer.code;
}

void pair(Operation operation, const void *first, const void *second, const void *caller) {
    post(operation, caller, Payload().add(first).add(second));
}

// A branch of a graph is a stream that waits for nothing but its events.
cudaError_t prepare(Executable &executable, const void *caller) {
    Replay &used = executable.recording.used;
    cudaError_t code = make(Operation::event_create, cudaEventDisableTiming, caller, executable.finished);
    for (auto &[captured, own] : used.streams) {
        if (code == cudaSuccess && captured != executable.recording.origin) {
            code = make(Operation::stream_create, cudaStreamNonBlocking, caller, own);
        }
    }
    for (auto &[captured, own] : used.events) {
        if (code == cudaSuccess) code = make(Operation::event_create, cudaEventDisableTiming, caller, own);
    }
    return code;
}

cudaError_t instantiate(cudaGraphExec_t *executable, cudaGraph_t graph, const void *caller) {
    NEEDS_DEVICE;
    auto *recording = reinterpret_cast<Recording *>(graph);
    if (!executable || !captures().graphs.has(recording)) return keep_from(caller, cudaErrorInvalidValue);
    Executable *made = captures().executables.make();
    made->recording = *recording;
    cudaError_t code = prepare(*made, caller);
    *executable = reinterpret_cast<cudaGraphExec_t>(made);
    return keep_from(caller, code);
}

void release(Executable &executable, const void *caller) {
    ask(Operation::event_destroy, caller, Payload().add(executable.finished));
    for (auto &[captured, own] : executable.recording.used.events) {
        ask(Operation::event_destroy, caller, Payload().add(own));
    }
    for (auto &[captured, own] : executable.recording.used.streams) {
        if (captured != executable.recording.origin) ask(Operation::stream_destroy, caller, Payload().add(own));
    }
}

cudaError_t launch_graph(Executable &executable, cudaStream_t stream, const void *caller) {
    if (!flags_of(stream)) return cudaErrorInvalidResourceHandle;
    if (is_captured(stream)) unsupported("cudaGraphLaunch into a stream that is captured", caller);
    if (auto refusal = captured(stream, {})) return *refusal;
    Recording &recording = executable.recording;
    recording.used.streams[recording.origin] = stream, recording.used.caller = caller;
    pair(Operation::stream_wait, stream, executable.finished, caller);
    for (const Step &step : recording.steps) {
        cudaError_t code = step(recording.used);
        if (code != cudaSuccess) return code;
    }
    pair(Operation::event_record, executable.finished, stream, caller);
    return cudaSuccess;
}

} // namespace

bool is_captured(cudaStream_t stream) {
    std::lock_guard guard(captures().mutex);
    return captures().members.count(stream);
}

std::optional<cudaError_t> captured(cudaStream_t stream, const Work &work) {
    std::lock_guard guard(captures().mutex);
    std::optional<cudaError_t> refusal;
    Member *member = member_of(stream, refusal);
    if (!member) return refusal;
    add(*member, [stream, work](const Replay &replay) { return work(replay.streams.at(stream)); });
    ++member->capture->recording.nodes;
    return cudaSuccess;
}

std::optional<cudaError_t> captured_record(cudaEvent_t event, cudaStream_t stream) {
    std::lock_guard guard(captures().mutex);
    captures().marks.erase(event), captures().recorded.erase(event);
    std::optional<cudaError_t> refusal;
    Member *member = member_of(stream, refusal);
    if (!member && !refusal) captures().recorded.insert(event);
    if (!member) return refusal;
    captures().marks[event] = {member->capture, stream, member->asked};
    member->capture->recording.used.events[event] = nullptr;
    member->capture->recording.steps.push_back([event, stream](const Replay &replay) {
        pair(Operation::event_record, replay.events.at(event), replay.streams.at(stream), replay.caller);
        return cudaSuccess;
    });
    return cudaSuccess;
}

// To wait for an event that was recorded in a capture is to become a part of it.
std::optional<cudaError_t> captured_wait(cudaStream_t stream, cudaEvent_t event) {
    std::lock_guard guard(captures().mutex);
    std::optional<cudaError_t> refusal;
    Member *member = member_of(stream, refusal);
    auto mark = captures().marks.find(event);
    if (refusal || (!member && mark == captures().marks.end())) return refusal;
    if (mark == captures().marks.end()) {
        if (!captures().recorded.count(event)) return cudaSuccess;
        return invalidated(*member->capture, cudaErrorStreamCaptureIsolation);
    }
    auto [capture, recorded, asked] = mark->second;
    if (capture->is_broken) return cudaErrorStreamCaptureInvalidated;
    if (member && member->capture != capture) return invalidated(*capture, cudaErrorStreamCaptureMerge);
    if (!member) {
        if (is_default(stream)) return invalidated(*capture, cudaErrorStreamCaptureImplicit);
        member = &(captures().members[stream] = {capture, is_blocking(stream)});
        capture->recording.used.streams[stream] = nullptr;
    }
    Member &waited_for = captures().members.at(recorded);
    if (waited_for.asked == asked) waited_for.is_joined = true;
    add(*member, [stream, event](const Replay &replay) {
        pair(Operation::stream_wait, replay.streams.at(stream), replay.events.at(event), replay.caller);
        return cudaSuccess;
    });
    return cudaSuccess;
}

std::optional<cudaError_t> captured_synchronise(cudaStream_t stream) {
    std::lock_guard guard(captures().mutex);
    auto place = captures().members.find(stream);
    if (place == captures().members.end()) return refused_by_default(stream);
    return invalidated(*place->second.capture, cudaErrorStreamCaptureUnsupported);
}

std::optional<cudaError_t> captured_synchronise_all() {
    std::lock_guard guard(captures().mutex);
    if (captures().members.empty()) return {};
    for (auto &[stream, member] : captures().members) member.capture->is_broken = true;
    return cudaErrorStreamCaptureUnsupported;
}

void forget_captures() {
    std::lock_guard guard(captures().mutex);
    captures().members.clear(), captures().marks.clear();
}

} // namespace standin

using namespace standin;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    NEEDS_DEVICE;
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) return keep(cudaErrorInvalidValue);
    if (!flags_of(stream)) return keep(cudaErrorInvalidResourceHandle);
    if (is_default(stream)) return keep(cudaErrorStreamCaptureUnsupported);
    std::lock_guard guard(captures().mutex);
    if (captures().members.count(stream)) return keep(cudaErrorIllegalState);
    auto capture = std::make_shared<Capture>();
    capture->recording.origin = stream;
    capture->recording.used.streams[stream] = nullptr;
    captures().members[stream] = {capture, is_blocking(stream)};
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    NEEDS_DEVICE;
    if (!graph) return keep(cudaErrorInvalidValue);
    *graph = nullptr;
    std::lock_guard guard(captures().mutex);
    auto place = captures().members.find(stream);
    if (place == captures().members.end()) return keep(cudaErrorIllegalState);
    SharedCapture capture = place->second.capture;
    if (capture->recording.origin != stream) return keep(invalidated(*capture, cudaErrorStreamCaptureUnmatched));
    bool is_unjoined = has_unjoined(capture);
    forget(captures().members, capture), forget(captures().marks, capture);
    if (capture->is_broken) return keep(cudaErrorStreamCaptureInvalidated);
    if (is_unjoined) return keep(cudaErrorStreamCaptureUnjoined);
    auto *made = captures().graphs.make();
    *made = std::move(capture->recording);
    *graph = reinterpret_cast<cudaGraph_t>(made);
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
    NEEDS_DEVICE;
    if (!status) return keep(cudaErrorInvalidValue);
    std::lock_guard guard(captures().mutex);
    auto place = captures().members.find(stream);
    if (place == captures().members.end()) *status = cudaStreamCaptureStatusNone;
    else *status = place->second.capture->is_broken ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long) {
    return instantiate(executable, graph, CALLER);
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long) {
    return instantiate(executable, graph, CALLER);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
    NEEDS_DEVICE;
    auto *executable = reinterpret_cast<Executable *>(graph);
    if (!captures().executables.has(executable)) return keep(cudaErrorInvalidValue);
    return keep(launch_graph(*executable, stream, CALLER));
}
cudaError_t cudaGraphUpload(cudaGraphExec_t graph, cudaStream_t) {
    NEEDS_DEVICE;
    return keep(captures().executables.has(reinterpret_cast<Executable *>(graph)) ? cudaSuccess : cudaErrorInvalidValue);
}

// The number of nodes; no node itself is given out.
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, std::size_t *count) {
    NEEDS_DEVICE;
    auto *recording = reinterpret_cast<Recording *>(graph);
    if (!count || !captures().graphs.has(recording)) return keep(cudaErrorInvalidValue);
    if (nodes) unsupported("cudaGraphGetNodes for more than their number", CALLER);
    *count = recording->nodes;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    return keep(captures().graphs.destroy(reinterpret_cast<Recording *>(graph)) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
    NEEDS_DEVICE;
    auto *executable = reinterpret_cast<Executable *>(graph);
    if (!captures().executables.has(executable)) return keep(cudaErrorInvalidValue);
    release(*executable, CALLER);
    captures().executables.destroy(executable);
    return cudaSuccess;
}

} // extern "C"
