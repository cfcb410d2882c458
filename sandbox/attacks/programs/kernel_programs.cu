// Loads programs into the kernel and watches it: bpf, io_uring, performance counters, faults in user space.
//
// After it: the kernel refused all of them. Most recent escapes began with one of these system calls.
#include "attack.h"
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    union bpf_attr map{};
    map.map_type = BPF_MAP_TYPE_ARRAY, map.key_size = 4, map.value_size = 8, map.max_entries = 1;
    attack::tried(syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map) >= 0, "make a map for bpf");
    char parameters[120] = "";
    attack::tried(syscall(425 /* io_uring_setup */, 8, parameters) >= 0, "set up io_uring");
    perf_event_attr event{};
    event.type = PERF_TYPE_SOFTWARE, event.size = sizeof event, event.config = PERF_COUNT_SW_CPU_CLOCK;
    event.exclude_kernel = 1;
    attack::tried(syscall(SYS_perf_event_open, &event, 0, -1, -1, 0) >= 0, "count events");
    event.exclude_kernel = 0;
    attack::tried(syscall(SYS_perf_event_open, &event, -1, 0, -1, 0) >= 0, "count everybody's events");
    attack::tried(syscall(323 /* userfaultfd */, 0) >= 0, "handle faults of the kernel");
    attack::tried(syscall(SYS_fanotify_init, 0, 0) >= 0, "watch the file system");
    return !attack::write_result();
}
