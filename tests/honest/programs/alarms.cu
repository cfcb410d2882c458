// honest: an alarm, a timer and a pause
#include <csignal>
#include <cstdio>
#include <sys/time.h>
#include <unistd.h>
static volatile sig_atomic_t rung = 0;
int main() {
    std::signal(SIGALRM, [](int) { rung = rung + 1; });
    const itimerval timer{{0, 50000}, {0, 50000}};
    setitimer(ITIMER_REAL, &timer, nullptr);
    while (rung < 3) pause();
    const itimerval off{};
    setitimer(ITIMER_REAL, &off, nullptr);
    alarm(1);
    const int before = rung;
    while (rung == before) pause();
    std::puts("rung");
}
