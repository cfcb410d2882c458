// honest: functions, variables and classes named like system calls, in namespaces and static
#include <iostream>
namespace net {
struct socket {
    int open() { return 3; }
};
int connect(socket& s) { return s.open(); }
}  // namespace net
static int ptrace(int depth) { return depth * 2; }
static int mount = 4, kill = 5;
struct Process {
    int fork() const { return 6; }
    int execve(const char*) const { return 7; }
};
int main() {
    net::socket s;
    std::cout << net::connect(s) << ptrace(1) << mount << kill << Process{}.fork() << Process{}.execve("sh") << '\n';
}
