// Graphs that are instantiated and launched (CUDA Runtime API, "Graph Management").
//
// To launch a graph is to ask for all of it again, on streams of the graph's own beside the one that it is launched into: the
// session sees launches, copies, events and waits like any others, each with the line that it was written on.
#include "graphs.hpp"
#include "errors.hpp"
#include "streams.hpp"

namespace standin {

LiveHandles<Graph> &graphs() {
    static auto *table = new LiveHandles<Graph>;
    return *table;
}

LiveHandles<Executable> &executables() {
    static auto *table = new LiveHandles<Executable>;
    return *table;
}

namespace {

template <typename Handle>
cudaError_t make(Operation operation, unsigned flags, const void *caller, Handle &handle) {
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

// The recording of a graph, with the works of its nodes; nothing where these wait for each other.
std::optional<Recording> recording_for(const Graph &graph, Executable &executable) {
    return graph.is_built ? recording_of(graph, executable.works) : graph.recorded;
}

cudaError_t instantiate(cudaGraphExec_t *executable, cudaGraph_t graph, const void *caller) {
    NEEDS_DEVICE;
    auto *from = reinterpret_cast<Graph *>(graph);
    if (!executable || !graphs().has(from)) return keep_from(caller, cudaErrorInvalidValue);
    Executable *made = executables().make();
    auto recording = recording_for(*from, *made);
    if (!recording) return executables().destroy(made), keep_from(caller, cudaErrorInvalidValue);
    made->recording = std::move(*recording);
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

Step recorded(cudaEvent_t event, cudaStream_t stream) {
    return [=](const Replay &replay) {
        pair(Operation::event_record, replay.events.at(event), replay.streams.at(stream), replay.caller);
        return cudaSuccess;
    };
}

Step awaited(cudaStream_t stream, cudaEvent_t event) {
    return [=](const Replay &replay) {
        pair(Operation::stream_wait, replay.streams.at(stream), replay.events.at(event), replay.caller);
        return cudaSuccess;
    };
}

} // namespace standin

using namespace standin;

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long) {
    return instantiate(executable, graph, CALLER);
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long) {
    return instantiate(executable, graph, CALLER);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
    NEEDS_DEVICE;
    auto *executable = reinterpret_cast<Executable *>(graph);
    if (!executables().has(executable)) return keep(cudaErrorInvalidValue);
    return keep(launch_graph(*executable, stream, CALLER));
}
cudaError_t cudaGraphUpload(cudaGraphExec_t graph, cudaStream_t) {
    NEEDS_DEVICE;
    return keep(executables().has(reinterpret_cast<Executable *>(graph)) ? cudaSuccess : cudaErrorInvalidValue);
}

// A graph of as many nodes takes the place of the one that was instantiated.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t graph, cudaGraph_t from, cudaGraphExecUpdateResultInfo *result) {
    NEEDS_DEVICE;
    auto *executable = reinterpret_cast<Executable *>(graph);
    auto *other = reinterpret_cast<Graph *>(from);
    if (!executables().has(executable) || !graphs().has(other)) return keep(cudaErrorInvalidValue);
    Executable changed;
    auto recording = recording_for(*other, changed);
    if (result) *result = {};
    if (!recording || recording->nodes != executable->recording.nodes) {
        if (result) result->result = cudaGraphExecUpdateErrorTopologyChanged;
        return keep(cudaErrorGraphExecUpdateFailure);
    }
    changed.recording = std::move(*recording);
    release(*executable, CALLER);
    *executable = std::move(changed);
    return keep(prepare(*executable, CALLER));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    auto *known = reinterpret_cast<Graph *>(graph);
    if (!graphs().has(known)) return keep(cudaErrorInvalidValue);
    forget_nodes(*known);
    graphs().destroy(known);
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
    NEEDS_DEVICE;
    auto *executable = reinterpret_cast<Executable *>(graph);
    if (!executables().has(executable)) return keep(cudaErrorInvalidValue);
    release(*executable, CALLER);
    executables().destroy(executable);
    return cudaSuccess;
}

} // extern "C"
