// Opens TCP connections: to a server on this machine, to the world, and to every address of its interfaces.
//
// After it: the server here saw nobody, and no connection was made.
#include "attack.h"
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

static bool connects(const char* address, int port) {
    const int one = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET, to.sin_port = htons(port);
    inet_pton(AF_INET, address, &to.sin_addr);
    if (connect(one, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) return true;
    if (errno != EINPROGRESS) return false;
    pollfd ready{one, POLLOUT, 0};
    socklen_t size = sizeof errno;
    int error = ETIMEDOUT;
    if (poll(&ready, 1, 300) == 1) getsockopt(one, SOL_SOCKET, SO_ERROR, &error, &size);
    errno = error;
    return error == 0;
}

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    const int port = atoi(attack::target("tcp").c_str());
    for (const char* address : {"127.0.0.1", "10.0.2.2", "172.17.0.1", "192.168.0.1"})
        attack::tried(connects(address, port), std::string("connect to the server at ") + address);
    attack::tried(connects("1.1.1.1", 443), "connect to the world");
    attack::tried(connects("127.0.0.1", 22), "connect to this machine's shell");
    return !attack::write_result();
}
