// Does by itself what should become the grader's fault: bytes to every descriptor, a forged call, a lost connection.
//
// After it: it is a finding about the program or nothing at all, and no error of ours.
#include "device.h"
using namespace device;

static void to_all(const Bytes& bytes) {
    for (int file = 3; file < 64; ++file)
        if (write(file, bytes.data(), bytes.size()) < 0) errno = 0;
}

int main(int argc, char** argv) {
    device::begin(argc, argv);
    attack::tried(false, attack::target("device"));
    if (is("numbers to all descriptors")) {
        Bytes numbers;
        for (int i = 0; i < 64; ++i) numbers.add(static_cast<unsigned char>(i * 37));
        to_all(numbers);
        attack::tried(hear() == 0, "an answer to numbers");
    }
    if (is("numbers of a child")) {
        if (!syscall(SYS_fork)) to_all(Bytes{}.add(N{77}).add(N{0}).add(U{0})), _exit(0);
        attack::tried(hear() == 0, "an answer to a child");
    }
    if (is("half a message, and its end")) to_all(Bytes{}.add(N{2}).add(N{20}));
    if (is("a connection that is replaced")) {
        const int null = open("/dev/null", O_RDWR);
        dup2(null, line);
    }
    if (is("a fault that never was")) say(Operation::fault, Bytes{}.add(U{8}).add(U{1}).add(N{0}).add(N{0}));
    return !attack::write_result();
}
