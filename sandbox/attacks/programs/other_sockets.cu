// Tries families of sockets that are not about the network: virtual machines, packets, keys, the kernel itself.
//
// After it: none that leads out of the sandbox could be opened and used.
#include "attack.h"
#include <sys/socket.h>

struct vsock_address {  // as <linux/vm_sockets.h> has it, which not every machine has
    unsigned short family, reserved;
    unsigned port, cid;
    unsigned char zero[4];
};

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    for (unsigned cid : {2u, 0u, 3u}) {  // the host, the hypervisor, the first guest
        const int one = socket(AF_VSOCK, SOCK_STREAM, 0);
        vsock_address to{};
        to.family = AF_VSOCK, to.cid = cid, to.port = 1024;
        const bool done = one >= 0 && connect(one, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
        attack::tried(done, "connect by vsock to " + std::to_string(cid));
    }
    attack::tried(socket(AF_PACKET, SOCK_RAW, 0) >= 0, "read packets");
    attack::tried(socket(AF_INET, SOCK_RAW, 1) >= 0, "send raw packets");
    attack::tried(socket(AF_ALG, SOCK_SEQPACKET, 0) >= 0, "use the kernel's cryptography");
    attack::tried(socket(15 /* AF_KEY */, SOCK_RAW, 2) >= 0, "manage keys of the network");
    attack::tried(socket(AF_BLUETOOTH, SOCK_RAW, 1) >= 0, "use Bluetooth");
    return !attack::write_result();
}
