// Asks for copies and fills whose numbers overflow, step out of memory, or say nothing.
//
// After it: the device has refused them as a GPU does, or has ended the conversation where the runtime never asks so.
#include "device.h"
using namespace device;

static Bytes copy(U to, U source, U pitch, U width, U height, N kind) {
    Bytes all;
    all.add(to).add(pitch).add(source).add(pitch).add(width).add(height).add(kind);
    return all.add(U{0}).add(N{0});
}

static Bytes out(U source, U pitch, U width, U height) { return copy(0, source, pitch, width, height, 2); }

int main(int argc, char** argv) {
    device::begin(argc, argv);
    const U array = allocated(64);
    if (is("a copy whose size overflows")) ask(Operation::copy_out, out(array, 8, U{1} << 63, 2));
    if (is("a copy that begins behind all addresses")) ask(Operation::copy_out, out(huge, 8, 8, 1));
    if (is("rows that step backwards out of memory")) ask(Operation::copy_out, out(array, huge, 8, 4));
    if (is("rows of nothing without end")) ask(Operation::copy_out, out(array, 0, 0, U{1} << 40));
    if (is("a copy of no rows")) ask(Operation::copy_out, out(array, 8, 8, 0));
    if (is("a copy of a kind that is not there")) ask(Operation::copy_on_host, copy(1, 1, 1, 1, 1, 77));
    if (is("a copy from one end of memory to the other"))
        ask(Operation::copy_within, copy(array, array - (U{1} << 18), 8, U{1} << 20, 1, 3));
    if (is("a copy into the device's own addresses")) ask(Operation::copy_in, copy(U{1} << 46, 1, 8, 8, 1, 1));
    if (is("a fill of nothing")) {
        Bytes all;
        all.add(array).add(U{8}).add(N{256}).add(U{0}).add(U{1}).add(U{0});
        ask(Operation::fill, all.add(N{0}));
    }
    if (is("a fill of more than there is")) {
        Bytes all;
        all.add(array).add(U{8}).add(N{0}).add(U{1} << 62).add(U{16}).add(U{0});
        ask(Operation::fill, all.add(N{0}));
    }
    return !attack::write_result();
}
