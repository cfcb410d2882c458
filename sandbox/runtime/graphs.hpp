// Graphs: what is asked of a device, once for all launches (CUDA Runtime API, "Graph Management").
#pragma once

#include "capture.hpp"
#include "library.hpp"

#include <map>
#include <memory>
#include <vector>

namespace standin {

// The streams and events of one graph that is launched, by those that stand for them in it.
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

struct Graph;

// A node of a graph that is built: what it asks of its stream, and what comes before it.
struct GraphNode {
    Graph *graph;
    cudaGraphNodeType type;
    std::vector<Work> works;
    std::vector<GraphNode *> needs;
};

// A graph that was captured has a recording, and gives out no nodes; one that is built has nodes.
struct Graph {
    Recording recorded;
    std::vector<GraphNode *> nodes;
    bool is_built = false;
};

using Works = std::shared_ptr<std::vector<Work>>;

struct Executable {
    Recording recording;
    cudaEvent_t finished; // the last launch of it, which the next one waits for
    std::map<const GraphNode *, Works> works; // of a graph that was built; they can be replaced
};

LiveHandles<Graph> &graphs();
LiveHandles<Executable> &executables();

// The steps of a graph that is built, each node in a stream of its own; nothing where its nodes wait for each other.
std::optional<Recording> recording_of(const Graph &graph, std::map<const GraphNode *, Works> &works);

// Steps that order streams: they cannot fail.
Step recorded(cudaEvent_t event, cudaStream_t stream);
Step awaited(cudaStream_t stream, cudaEvent_t event);

void forget_nodes(const Graph &graph);

} // namespace standin
