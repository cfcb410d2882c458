// Talks to services of this machine by unix sockets, by path and by abstract name, and to Docker's above all.
//
// After it: no service saw anybody. Abstract names belong to a network, which is not shared.
#include "attack.h"
#include <cstddef>
#include <sys/socket.h>
#include <sys/un.h>

static bool connects(const std::string& name, bool abstract) {
    const int one = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    memcpy(to.sun_path + abstract, name.data(), std::min(name.size(), sizeof to.sun_path - 2));
    const socklen_t size = offsetof(sockaddr_un, sun_path) + abstract + name.size() + !abstract;
    return connect(one, reinterpret_cast<sockaddr*>(&to), size) == 0;
}

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    attack::tried(connects(attack::target("abstract"), true), "connect to an abstract socket");
    for (const std::string& path :
         {attack::target("unix"), attack::target("docker"), std::string("/run/docker.sock"),
          std::string("/run/containerd/containerd.sock"), std::string("/run/dbus/system_bus_socket"),
          std::string("/run/systemd/private"), std::string("/dev/log"), std::string("/run/snapd.socket")})
        attack::tried(connects(path, false), "connect to " + path);
    return !attack::write_result();
}
