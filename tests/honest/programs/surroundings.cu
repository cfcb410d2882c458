// honest: the environment, the folder, the machine, its own limits
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>
int main() {
    char here[4096];
    utsname system{};
    rlimit limit{};
    rusage usage{};
    const bool fine = getcwd(here, sizeof here) && uname(&system) == 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
                      getrusage(RUSAGE_SELF, &usage) == 0 && std::getenv("PATH") && std::getenv("HOME") &&
                      !std::getenv("NO_SUCH_VARIABLE") && setenv("OWN", "1", 1) == 0 && getpid() > 0 &&
                      sysconf(_SC_PAGESIZE) >= 4096 && sysconf(_SC_NPROCESSORS_ONLN) >= 1 &&
                      std::thread::hardware_concurrency() >= 1 && access(".", W_OK | X_OK) == 0;
    std::puts(fine ? "as usual" : "strange");
}
