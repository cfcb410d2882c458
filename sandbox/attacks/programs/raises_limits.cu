// Gives itself more than its share: higher limits, real-time priority, safety from the killer of processes.
//
// After it: its limits and its priority were what they were.
#include "attack.h"
#include <sched.h>
#include <sys/resource.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    const struct { __rlimit_resource kind; const char* name; } limits[] = {
        {RLIMIT_FSIZE, "file size"}, {RLIMIT_NPROC, "processes"}, {RLIMIT_NOFILE, "open files"}, {RLIMIT_CORE, "core"}};
    for (const auto& limit : limits) {
        rlimit now{};
        getrlimit(limit.kind, &now);
        const rlimit more{now.rlim_cur, now.rlim_max + 1};
        const bool had_none = now.rlim_max == RLIM_INFINITY;
        attack::tried(!had_none && setrlimit(limit.kind, &more) == 0, std::string("raise the limit: ") + limit.name);
    }
    const sched_param first{99};
    attack::tried(sched_setscheduler(0, SCHED_FIFO, &first) == 0, "run in real time");
    attack::tried(setpriority(PRIO_PROCESS, 0, -20) == 0 && getpriority(PRIO_PROCESS, 0) == -20, "go first");
    attack::tried(attack::write_file("/proc/self/oom_score_adj", "-1000"), "never be killed for memory");
    for (const char* group : {"/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/pids/cgroup.procs"})
        attack::tried(attack::write_file(group, "0"), std::string("leave its control group by ") + group);
    return !attack::write_result();
}
