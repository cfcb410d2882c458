// Graphs that are built node by node (CUDA Runtime API, "Graph Management").
//
// What a node does is what the call of the same name asks of a stream, kept instead of done. Each node has a stream of its
// own in the graph that is launched, and waits for the events of those that come before it.
#include "errors.hpp"
#include "graphs.hpp"
#include "kernels.hpp"
#include "memory.hpp"
#include "streams.hpp"

#include <algorithm>
#include <set>

namespace standin {
namespace {

LiveHandles<GraphNode> &nodes() {
    static auto *table = new LiveHandles<GraphNode>;
    return *table;
}

GraphNode *node_of(cudaGraphNode_t handle) {
    auto *node = reinterpret_cast<GraphNode *>(handle);
    return nodes().has(node) ? node : nullptr;
}

// The stream and the event that stand for a node, or for the beginning of a graph, are called by its address.
cudaStream_t stream_of(const void *part) { return static_cast<cudaStream_t>(const_cast<void *>(part)); }
cudaEvent_t event_of(const void *part) { return static_cast<cudaEvent_t>(const_cast<void *>(part)); }

struct Before {
    const cudaGraphNode_t *nodes;
    std::size_t count;
};

cudaError_t add_works(cudaGraphNode_t *handle, cudaGraph_t graph, const Before &before, cudaGraphNodeType type,
                      std::vector<Work> works, const void *caller) {
    auto *owner = reinterpret_cast<Graph *>(graph);
    bool is_sound = handle && graphs().has(owner) && owner->is_built && (before.nodes || !before.count);
    for (std::size_t each = 0; is_sound && each < before.count; ++each) {
        GraphNode *needed = node_of(before.nodes[each]);
        is_sound = needed && needed->graph == owner;
    }
    if (!is_sound) return keep_from(caller, cudaErrorInvalidValue);
    GraphNode *node = nodes().make();
    *node = {owner, type, std::move(works), {}};
    for (std::size_t each = 0; each < before.count; ++each) node->needs.push_back(node_of(before.nodes[each]));
    owner->nodes.push_back(node);
    *handle = reinterpret_cast<cudaGraphNode_t>(node);
    return cudaSuccess;
}

cudaError_t add(cudaGraphNode_t *handle, cudaGraph_t graph, const Before &before, cudaGraphNodeType type, const Work &call,
                const void *caller) {
    NEEDS_DEVICE;
    std::vector<Work> works;
    cudaError_t code = collect(call, works);
    if (code != cudaSuccess) return code;
    return add_works(handle, graph, before, type, std::move(works), caller);
}

// Other parameters for a node, and for what was instantiated of it where there is an executable.
cudaError_t change(GraphNode *node, cudaGraphNodeType type, Executable *executable, const Work &call, const void *caller) {
    NEEDS_DEVICE;
    if (!node || node->type != type) return keep_from(caller, cudaErrorInvalidValue);
    std::vector<Work> works;
    cudaError_t code = collect(call, works);
    if (code != cudaSuccess) return code;
    if (!executable) return node->works = std::move(works), cudaSuccess;
    auto place = executables().has(executable) ? executable->works.find(node) : executable->works.end();
    if (!executables().has(executable) || place == executable->works.end()) return keep_from(caller, cudaErrorInvalidValue);
    *place->second = std::move(works);
    return cudaSuccess;
}

Work launch_call(const cudaKernelNodeParams *how, const void *caller) {
    return [=](cudaStream_t stream) {
        if (!how) return keep_from(caller, cudaErrorInvalidValue);
        if (how->extra) unsupported("a kernel node with packed parameters", caller);
        return launch_kernel(how->func, how->gridDim, how->blockDim, how->sharedMemBytes, how->kernelParams, stream, caller);
    };
}

Work copy_call(void *to, const void *from, std::size_t size, cudaMemcpyKind kind, const void *caller) {
    return [=](cudaStream_t stream) { return copy_rows(to, size, from, size, size, 1, kind, caller, stream); };
}

// Elements of several bytes that are not all the same byte would need a pattern.
Work fill_call(const cudaMemsetParams *how, const void *caller) {
    return [=](cudaStream_t stream) {
        if (!how || (how->elementSize != 1 && how->elementSize != 2 && how->elementSize != 4)) {
            return keep_from(caller, cudaErrorInvalidValue);
        }
        unsigned byte = how->value & 255, repeated = byte * 0x01010101u;
        unsigned mask = how->elementSize == 4 ? ~0u : (1u << 8 * how->elementSize) - 1;
        if ((repeated & mask) != (how->value & mask)) unsupported("a memset node whose elements are no repeated byte", caller);
        std::size_t width = how->width * how->elementSize;
        std::size_t pitch = how->height > 1 ? how->pitch : width;
        return fill_rows(how->dst, pitch, static_cast<int>(byte), width, how->height, stream, caller);
    };
}

Work host_call(const cudaHostNodeParams *how, const void *caller) {
    return [=](cudaStream_t stream) {
        return how && how->fn ? launch_on_host(stream, how->fn, how->userData, caller)
                              : keep_from(caller, cudaErrorInvalidValue);
    };
}

// The nodes, each behind all that it needs; fewer where some need each other.
std::vector<const GraphNode *> in_order(const Graph &graph) {
    std::vector<const GraphNode *> order;
    std::set<const GraphNode *> done;
    for (bool has_more = true; has_more;) {
        has_more = false;
        for (const GraphNode *node : graph.nodes) {
            auto is_done = [&](const GraphNode *needed) { return done.count(needed) != 0; };
            if (is_done(node) || !std::all_of(node->needs.begin(), node->needs.end(), is_done)) continue;
            order.push_back(node), done.insert(node);
            has_more = true;
        }
    }
    return order;
}

// The handles of nodes, or how many there are.
cudaError_t list(const std::vector<GraphNode *> &all, cudaGraphNode_t *handles, std::size_t *count) {
    std::size_t number = handles ? std::min(all.size(), *count) : all.size();
    for (std::size_t each = 0; handles && each < number; ++each) handles[each] = reinterpret_cast<cudaGraphNode_t>(all[each]);
    *count = number;
    return cudaSuccess;
}

} // namespace

std::optional<Recording> recording_of(const Graph &graph, std::map<const GraphNode *, Works> &works) {
    auto order = in_order(graph);
    if (order.size() != graph.nodes.size()) return {};
    Recording recording{stream_of(&graph), {}, order.size(), {}};
    recording.used.streams[recording.origin] = nullptr;
    recording.used.events[event_of(&graph)] = nullptr;
    recording.steps.push_back(recorded(event_of(&graph), recording.origin));
    for (const GraphNode *node : order) {
        recording.used.streams[stream_of(node)] = nullptr, recording.used.events[event_of(node)] = nullptr;
        if (node->needs.empty()) recording.steps.push_back(awaited(stream_of(node), event_of(&graph)));
        for (const GraphNode *needed : node->needs) {
            recording.steps.push_back(awaited(stream_of(node), event_of(needed)));
        }
        Works mine = works[node] = std::make_shared<std::vector<Work>>(node->works);
        recording.steps.push_back([node, mine](const Replay &replay) {
            for (const Work &work : *mine) {
                cudaError_t code = work(replay.streams.at(stream_of(node)));
                if (code != cudaSuccess) return code;
            }
            return cudaSuccess;
        });
        recording.steps.push_back(recorded(event_of(node), stream_of(node)));
    }
    for (const GraphNode *node : order) recording.steps.push_back(awaited(recording.origin, event_of(node)));
    return recording;
}

void forget_nodes(const Graph &graph) {
    for (GraphNode *node : graph.nodes) nodes().destroy(node);
}

} // namespace standin

using namespace standin;

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned) {
    NEEDS_DEVICE;
    if (!graph) return keep(cudaErrorInvalidValue);
    Graph *made = graphs().make();
    made->is_built = true;
    *graph = reinterpret_cast<cudaGraph_t>(made);
    return cudaSuccess;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                   std::size_t count, const cudaKernelNodeParams *how) {
    return add(node, graph, {before, count}, cudaGraphNodeTypeKernel, launch_call(how, CALLER), CALLER);
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                   std::size_t count, const cudaMemcpy3DParms *how) {
    const void *caller = CALLER;
    auto call = [=](cudaStream_t stream) { return copy_planes_of(how, stream, caller); };
    return add(node, graph, {before, count}, cudaGraphNodeTypeMemcpy, call, caller);
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                     std::size_t count, void *to, const void *from, std::size_t size,
                                     cudaMemcpyKind kind) {
    auto call = copy_call(to, from, size, kind, CALLER);
    return add(node, graph, {before, count}, cudaGraphNodeTypeMemcpy, call, CALLER);
}
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                           std::size_t count, const void *symbol, const void *from, std::size_t size,
                                           std::size_t offset, cudaMemcpyKind kind) {
    const void *caller = CALLER;
    auto call = [=](cudaStream_t on) { return copy_of_symbol(symbol, nullptr, from, size, offset, kind, on, caller); };
    return add(node, graph, {before, count}, cudaGraphNodeTypeMemcpy, call, caller);
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                             std::size_t count, void *to, const void *symbol, std::size_t size,
                                             std::size_t offset, cudaMemcpyKind kind) {
    const void *caller = CALLER;
    auto call = [=](cudaStream_t on) { return copy_of_symbol(symbol, to, nullptr, size, offset, kind, on, caller); };
    return add(node, graph, {before, count}, cudaGraphNodeTypeMemcpy, call, caller);
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                   std::size_t count, const cudaMemsetParams *how) {
    return add(node, graph, {before, count}, cudaGraphNodeTypeMemset, fill_call(how, CALLER), CALLER);
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                 std::size_t count, const cudaHostNodeParams *how) {
    return add(node, graph, {before, count}, cudaGraphNodeTypeHost, host_call(how, CALLER), CALLER);
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                  std::size_t count) {
    NEEDS_DEVICE;
    return add_works(node, graph, {before, count}, cudaGraphNodeTypeEmpty, {}, CALLER);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     const cudaGraphEdgeData *, std::size_t count) {
    NEEDS_DEVICE;
    for (std::size_t each = 0; each < count; ++each) {
        GraphNode *first = from ? node_of(from[each]) : nullptr, *second = to ? node_of(to[each]) : nullptr;
        auto *owner = reinterpret_cast<Graph *>(graph);
        if (!first || !second || first->graph != owner || second->graph != owner) return keep(cudaErrorInvalidValue);
        second->needs.push_back(first);
    }
    return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *how) {
    return change(node_of(node), cudaGraphNodeTypeKernel, nullptr, launch_call(how, CALLER), CALLER);
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, std::size_t size,
                                           cudaMemcpyKind kind) {
    return change(node_of(node), cudaGraphNodeTypeMemcpy, nullptr, copy_call(to, from, size, kind, CALLER), CALLER);
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams *how) {
    return change(node_of(node), cudaGraphNodeTypeMemset, nullptr, fill_call(how, CALLER), CALLER);
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams *how) {
    return change(node_of(node), cudaGraphNodeTypeHost, nullptr, host_call(how, CALLER), CALLER);
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *how) {
    auto *executable = reinterpret_cast<Executable *>(graph);
    return change(node_of(node), cudaGraphNodeTypeKernel, executable, launch_call(how, CALLER), CALLER);
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t graph, cudaGraphNode_t node, void *to, const void *from,
                                               std::size_t size, cudaMemcpyKind kind) {
    auto *executable = reinterpret_cast<Executable *>(graph);
    return change(node_of(node), cudaGraphNodeTypeMemcpy, executable, copy_call(to, from, size, kind, CALLER), CALLER);
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node, const cudaMemsetParams *how) {
    auto *executable = reinterpret_cast<Executable *>(graph);
    return change(node_of(node), cudaGraphNodeTypeMemset, executable, fill_call(how, CALLER), CALLER);
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node, const cudaHostNodeParams *how) {
    auto *executable = reinterpret_cast<Executable *>(graph);
    return change(node_of(node), cudaGraphNodeTypeHost, executable, host_call(how, CALLER), CALLER);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type) {
    NEEDS_DEVICE;
    GraphNode *known = node_of(node);
    if (!known || !type) return keep(cudaErrorInvalidValue);
    *type = known->type;
    return cudaSuccess;
}
// Of a graph that was captured the number of nodes is known, and no node is given out.
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *handles, std::size_t *count) {
    NEEDS_DEVICE;
    auto *owner = reinterpret_cast<Graph *>(graph);
    if (!count || !graphs().has(owner)) return keep(cudaErrorInvalidValue);
    if (owner->is_built) return list(owner->nodes, handles, count);
    if (handles) unsupported("the nodes of a graph that was captured", CALLER);
    *count = owner->recorded.nodes;
    return cudaSuccess;
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *handles, std::size_t *count) {
    NEEDS_DEVICE;
    auto *owner = reinterpret_cast<Graph *>(graph);
    if (!count || !graphs().has(owner)) return keep(cudaErrorInvalidValue);
    if (!owner->is_built) unsupported("the nodes of a graph that was captured", CALLER);
    std::vector<GraphNode *> roots;
    for (GraphNode *node : owner->nodes)
        if (node->needs.empty()) roots.push_back(node);
    return list(roots, handles, count);
}

} // extern "C"
