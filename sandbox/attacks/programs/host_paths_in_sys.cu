// Opens the files of /proc and /sys by which a machine is steered, for writing: handlers that the kernel starts
// as root, the magic SysRq key, power, memory, firmware.
//
// After it: none could be opened. (It writes nothing: to open them is enough.)
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    for (const char* path :
         {"/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/drop_caches",
          "/proc/sys/fs/binfmt_misc/register", "/proc/irq/0/smp_affinity", "/proc/mtrr",
          "/proc/acpi/call", "/proc/bus/pci/00/00.0", "/sys/kernel/uevent_helper", "/sys/power/state",
          "/sys/kernel/mm/ksm/run", "/sys/fs/cgroup/release_agent", "/sys/fs/cgroup/memory/release_agent",
          "/sys/fs/cgroup/rdma/release_agent", "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/memory.max",
          "/sys/fs/cgroup/pids/pids.max", "/sys/firmware/efi/efivars", "/sys/kernel/debug/tracing/trace_on"})
        attack::tried(open(path, O_WRONLY | O_CLOEXEC) >= 0, std::string("open for writing ") + path);
    for (const char* path : {"/proc/kcore", "/proc/kmsg", "/proc/keys", "/proc/timer_list", "/proc/sched_debug",
                             "/sys/kernel/debug/sched/debug", "/sys/firmware/dmi/tables/DMI"})
        attack::tried(!attack::content(path, 64).empty(), std::string("read ") + path);
    return !attack::write_result();
}
