// Asks the address at which clouds tell a machine its credentials, and others like it.
//
// After it: nobody answered.
#include "attack.h"
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    for (const char* address : {"169.254.169.254", "169.254.170.2", "100.100.100.200", "fd00:ec2::254"}) {
        const int family = strchr(address, ':') ? AF_INET6 : AF_INET;
        const int one = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);
        sockaddr_in to{};
        sockaddr_in6 to6{};
        to.sin_family = AF_INET, to.sin_port = to6.sin6_port = htons(80), to6.sin6_family = AF_INET6;
        inet_pton(family, address, family == AF_INET ? (void*)&to.sin_addr : (void*)&to6.sin6_addr);
        const bool six = family == AF_INET6;
        int error = connect(one, six ? (sockaddr*)&to6 : (sockaddr*)&to, six ? sizeof to6 : sizeof to) ? errno : 0;
        if (error == EINPROGRESS) {
            pollfd ready{one, POLLOUT, 0};
            socklen_t size = sizeof error;
            error = ETIMEDOUT;
            if (poll(&ready, 1, 300) == 1) getsockopt(one, SOL_SOCKET, SO_ERROR, &error, &size);
        }
        errno = error;
        attack::tried(error == 0, std::string("connect to ") + address);
        close(one);
    }
    return !attack::write_result();
}
