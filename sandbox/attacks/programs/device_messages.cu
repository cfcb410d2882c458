// Sends its device what the runtime never sends: messages that are none, and messages about what is not there.
//
// After it: the device has ended the conversation at the first of them, and said why; staff are asked.
#include "device.h"
using namespace device;

int main(int argc, char** argv) {
    device::begin(argc, argv);
    if (is("a second greeting")) ask(Operation::hello, Bytes{}.add(N{3}).add(U{0}));
    if (is("an operation that is not there")) attack::tried(say_number(999, {}) && hear() == 0, "999");
    if (is("no operation")) attack::tried(say_number(0, {}) && hear() == 0, "0");
    if (is("a payload of four gigabytes")) ask(Operation::allocate, {}, 0xFFFFFFFF);
    if (is("a launch that is posted")) attack::tried(say_number(posted | 10, {}) && hear() == 0, "posted");
    if (is("memory of a kind that is not there"))
        ask(Operation::allocate, Bytes{}.add(U{8}).add(N{9}).add(U{0}));
    if (is("a name that is no text"))
        ask(Operation::unsupported, Bytes{}.add(N{2}).add('\xff').add('\xfe'));
    if (is("a name of several lines"))
        ask(Operation::unsupported, Bytes{}.add(N{4}).add('x').add('\n').add('\x1b').add('c'));
    if (is("more callers than a message has")) ask(Operation::fault, Bytes{}.add(U{0}).add(U{1}).add(N{0}).add(N{0xFFFFFFFF}));
    if (is("the limit of a kernel that is not there"))
        ask(Operation::function_limit, Bytes{}.add(N{0x80000005}).add(U{1}));
    if (is("the occupancy of a kernel that is not there"))
        ask(Operation::occupancy, Bytes{}.add(N{77}).add(N{32}).add(U{0}));
    if (is("a number too many")) ask(Operation::memory_info, Bytes{}.add(N{1}));
    if (is("a child that speaks for its parent")) {
        if (!syscall(SYS_fork)) _exit(!say(Operation::hello, Bytes{}.add(N{3}).add(U{0})));
        attack::tried(hear() == 0, "greet by a child");
    }
    return !attack::write_result();
}
