// What the libraries of the stand-in have in common: handles that are this program's own affair, and work that the session
// does where device memory lies.
#pragma once

#include "wire.hpp"

#include <mutex>
#include <set>

namespace standin {

// What a library's call asks of the device for a stream, as a launch does.
Answer compute(Operation operation, const Payload &payload, cudaStream_t stream, const void *caller);

// The handles of one library that are in use; any other may be a pointer to nothing.
template <typename State> class LiveHandles {
  public:
    State *make() {
        std::lock_guard guard(mutex_);
        return *live_.insert(new State).first;
    }
    bool has(State *handle) {
        std::lock_guard guard(mutex_);
        return live_.count(handle);
    }
    bool destroy(State *handle) {
        std::lock_guard guard(mutex_);
        if (!live_.erase(handle)) return false;
        delete handle;
        return true;
    }

  private:
    std::mutex mutex_;
    std::set<State *> live_;
};

} // namespace standin
