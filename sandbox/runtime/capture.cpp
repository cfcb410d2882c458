// Stream capture (CUDA C++ guide, "Creating a Graph Using Stream Capture"): a graph is what its streams were asked for, in
// the order of the calls.
#include "errors.hpp"
#include "graphs.hpp"
#include "streams.hpp"

#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace standin {

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

} // namespace

bool is_captured(cudaStream_t stream) {
    std::lock_guard guard(captures().mutex);
    return captures().members.count(stream);
}

namespace {
thread_local std::vector<Work> *collecting = nullptr;
} // namespace

cudaError_t collect(const Work &call, std::vector<Work> &works) {
    collecting = &works;
    cudaError_t code = call(nullptr);
    collecting = nullptr;
    return code;
}

std::optional<cudaError_t> captured(cudaStream_t stream, const Work &work) {
    if (collecting) return collecting->push_back(work), cudaSuccess;
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
    member->capture->recording.steps.push_back(recorded(event, stream));
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
    add(*member, awaited(stream, event));
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
    Graph *made = graphs().make();
    made->recorded = std::move(capture->recording);
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

} // extern "C"
