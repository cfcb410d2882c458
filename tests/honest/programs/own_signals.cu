// honest: signals that it sends itself and handles, a fault among them
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <unistd.h>
static sigjmp_buf back;
static volatile sig_atomic_t seen = 0;
int main() {
    for (int signal : {SIGUSR1, SIGTERM, SIGINT, SIGHUP, SIGPIPE}) {
        std::signal(signal, [](int) { seen = seen + 1; });
        raise(signal);
    }
    std::signal(SIGSEGV, [](int) { siglongjmp(back, 1); });
    if (sigsetjmp(back, 1) == 0) {
        *static_cast<volatile int*>(nullptr) = 1;
    } else {
        std::puts("caught a fault");
    }
    std::printf("%d signals\n", static_cast<int>(seen));
}
