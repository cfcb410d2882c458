// Asks cuBLAS and cuRAND for what overflows, steps out of memory, says nothing, or never ends.
//
// After it: the device has refused them, or has ended the conversation where the library never asks so.
#include "device.h"
using namespace device;

static Bytes product(N width, N m, N n, N k, U a, N leading_a, U b, N leading_b, U c, N leading_c, U stream = 0) {
    Bytes all;
    all.add(width).add(N{0}).add(N{0}).add(m).add(n).add(k).add(1.0).add(0.0);
    return all.add(a).add(leading_a).add(b).add(leading_b).add(c).add(leading_c).add(stream);
}

static Bytes vectors(N operation, N width, N count, U x, N step_x, U y, N step_y) {
    Bytes all;
    all.add(operation).add(width).add(count).add(2.0).add(x).add(step_x).add(y).add(step_y);
    return all.add(U{0});
}

static Bytes numbers(N distribution, N width, U position, U count, double mean, U array) {
    Bytes all;
    all.add(distribution).add(width).add(N{7}).add(huge).add(position).add(count).add(mean).add(0.0);
    return all.add(array).add(U{0});
}

int main(int argc, char** argv) {
    device::begin(argc, argv);
    const U array = allocated(64);
    const N most = ~N{0};
    if (is("a product of all numbers there are"))
        ask(Operation::multiply, product(4, most, most, most, array, most, array, most, array, most));
    if (is("a product whose columns overlap")) ask(Operation::multiply, product(4, 4, 4, 1, array, 4, array, 1, array, 1));
    if (is("a product without columns")) ask(Operation::multiply, product(4, 4, 0, 4, array, 4, array, 4, array, 4));
    if (is("a product of numbers of no width")) ask(Operation::multiply, product(0, 2, 2, 2, array, 2, array, 2, array, 2));
    if (is("a product that is stored behind an array"))
        ask(Operation::multiply, product(4, 4, 4, 4, array, 4, array, 4, array + 4, 4));
    if (is("a product that is stored between numbers"))
        ask(Operation::multiply, product(4, 2, 2, 2, array, 2, array, 2, array + 1, 2));
    if (is("a product in a stream of nobody")) {
        ask(Operation::multiply, product(4, 2, 2, 2, array, 2, array, 2, array, 2, 0x7777));
    }
    if (is("a sum over the end of all addresses")) ask(Operation::combine, vectors(4, 4, 2, huge - 3, 1, huge - 3, 1));
    if (is("a sum with steps that lead out of memory")) ask(Operation::combine, vectors(2, 8, 2, array, most, array, 1));
    if (is("an operation that is not there")) ask(Operation::combine, vectors(9, 4, 2, array, 1, array, 1));
    if (is("more random numbers than there are bytes")) ask(Operation::draw, numbers(1, 8, 0, huge / 4, 0, array));
    if (is("random numbers over the end of all addresses")) ask(Operation::draw, numbers(1, 4, 0, 4, 0, huge - 3));
    if (is("random counts whose table is endless")) ask(Operation::draw, numbers(4, 4, 0, 4, 1e300, array));
    if (is("a distribution that is not there")) ask(Operation::draw, numbers(9, 4, 0, 4, 0, array));
    if (is("an answer of more numbers than it may have")) {
        ask(Operation::draw_on_host, numbers(1, 8, 0, U{1} << 40, 0, 0));
    }
    return !attack::write_result();
}
