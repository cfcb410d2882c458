// Sends datagrams: to a listener on this machine, to everybody, and hidden in a question about a name (DNS).
//
// After it: the listener heard nothing, no name was resolved, and nothing could be sent.
#include "attack.h"
#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

static bool sends(const char* address, int port, const std::string& text) {
    const int one = socket(AF_INET, SOCK_DGRAM, 0), yes = 1;
    setsockopt(one, SOL_SOCKET, SO_BROADCAST, &yes, sizeof yes);
    sockaddr_in to{};
    to.sin_family = AF_INET, to.sin_port = htons(port);
    inet_pton(AF_INET, address, &to.sin_addr);
    return sendto(one, text.data(), text.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof to) >= 0;
}

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    const int port = atoi(attack::target("udp").c_str());
    sends("127.0.0.1", port, "hello from an attack");  // an own loopback may take it: the listener tells
    for (const char* address : {"172.17.0.1", "255.255.255.255", "224.0.0.1"})
        attack::tried(sends(address, port, "hello"), std::string("send a datagram to ") + address);
    const std::string question("\x12\x34\1\0\0\1\0\0\0\0\0\0\x03www\x07""example\3com\0\0\1\0\1", 33);
    attack::tried(sends("8.8.8.8", 53, question), "ask a server for a name");
    addrinfo* found = nullptr;
    attack::tried(getaddrinfo("example.com", "80", nullptr, &found) == 0, "resolve a name");
    return !attack::write_result();
}
