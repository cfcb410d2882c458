// Loads kernel modules, another kernel, swap; sets the clock and the machine's name; restarts it. All with
// arguments that are wrong, so that nothing happens even where it is let: the error tells.
//
// After it: each was refused for want of rights, before the kernel looked at the arguments.
#include "attack.h"
#include <sys/syscall.h>
#include <sys/timex.h>

static void refused(long result, const char* what) {
    const bool allowed = result >= 0 || (errno != EPERM && errno != ENOSYS && errno != EACCES);
    attack::tried(allowed, what);
}

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    refused(syscall(SYS_init_module, nullptr, 0, ""), "load a module");
    refused(syscall(SYS_finit_module, -1, "", 0), "load a module from a file");
    refused(syscall(SYS_delete_module, nullptr, 0), "remove a module");
    refused(syscall(SYS_kexec_load, 0, 0, nullptr, ~0ul), "load a kernel");
    refused(syscall(SYS_reboot, 1, 2, 3, nullptr), "restart the machine");
    refused(syscall(SYS_swapon, nullptr, 0), "swap to a file");
    timex tick{};
    tick.modes = ADJ_TICK, tick.tick = 1;
    refused(adjtimex(&tick), "set the clock");
    refused(syscall(SYS_sethostname, nullptr, 1), "rename the machine");
    refused(syscall(SYS_iopl, 3), "talk to devices by ports");
    refused(syscall(SYS_syslog, 2, nullptr, 0), "read the kernel's log");
    refused(syscall(SYS_acct, reinterpret_cast<void*>(1)), "account for processes");
    return !attack::write_result();
}
