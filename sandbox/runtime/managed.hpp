// Memory that the host and the device share: managed memory, pinned memory and __managed__ variables.
#pragma once

#include <cstddef>
#include <cstdint>

namespace standin {

enum class Sharing : std::uint32_t { managed = 1, pinned = 2 };

// Makes the bytes of an allocation reachable for the host, at the device's own address; false if there is no room.
bool share(std::uint64_t address, std::size_t size, Sharing sharing);
void unshare(std::uint64_t address);
void unshare_all();
// Gives bytes to the host for a system call, which does not fault: while this lives, the kernel reads them or `writes`
// to them. Of memory that is not shared nothing need be said.
class Reachable {
  public:
    Reachable(const void *bytes, std::size_t size, bool writes);
    ~Reachable();
    Reachable(const Reachable &) = delete;
    Reachable &operator=(const Reachable &) = delete;

  private:
    bool closes_again_ = false;
};

// Hands over to the device what the host has written since it last had a turn.
void hand_over();
// Says that the device may be at work on shared memory, from here until the host has waited for all of it.
void device_at_work();
void device_idle();

} // namespace standin
