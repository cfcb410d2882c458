// Asks cuBLAS and cuRAND for what overflows, steps out of memory, says nothing, or never ends.
//
// After it: the device has refused them, or has ended the conversation where the library never asks so.
#include "device.h"
using namespace device;

// A matrix of a product, in whose call D takes the place of C.
struct Matrix { U address; N leading; U stride = 0; };

static Bytes product(N type, N m, N n, N k, Matrix a, Matrix b, Matrix c, U stream = 0, N count = 1, N pointers = 0,
                     U bias = 0) {
    Bytes all;
    all.add(type).add(type).add(N{0}).add(N{0}).add(m).add(n).add(k).add(1.0).add(0.0).add(0.0).add(0.0);
    for (Matrix one : {a, b, c, c}) all.add(one.address).add(one.leading).add(one.stride);
    return all.add(count).add(pointers).add(bias).add(N{0}).add(N{0}).add(stream);
}

static Bytes triangle(N m, N n, U a, N leading_a, U b, N leading_b) {
    Bytes all;
    all.add(N{0}).add(N{0}).add(N{0}).add(N{0}).add(N{0}).add(m).add(n).add(1.0);
    return all.add(a).add(leading_a).add(b).add(leading_b).add(U{0});
}

static Bytes vectors(N operation, N type, N count, U x, N step_x, U y, N step_y) {
    Bytes all;
    all.add(operation).add(type).add(count).add(2.0).add(0.0).add(0.0).add(0.0).add(x).add(step_x).add(y).add(step_y);
    return all.add(U{0});
}

static Bytes numbers(N distribution, N width, U position, U count, double mean, U array) {
    Bytes all;
    all.add(distribution).add(width).add(N{7}).add(huge).add(position).add(count).add(mean).add(0.0);
    return all.add(array).add(U{0});
}

static void attempt(const char* what, Operation operation, const Bytes& request) {
    if (is(what)) ask(operation, request);
}

int main(int argc, char** argv) {
    device::begin(argc, argv);
    const U array = allocated(64);
    const N most = ~N{0};
    const Matrix two{array, 2}, four{array, 4}, all{array, most}, far{array, 2, huge / 4};
    const auto multiply = Operation::multiply, combine = Operation::combine, solve = Operation::solve;
    attempt("a product of all numbers there are", multiply, product(0, most, most, most, all, all, all));
    attempt("a product whose columns overlap", multiply, product(0, 4, 4, 1, four, {array, 1}, {array, 1}));
    attempt("a product without columns", multiply, product(0, 4, 0, 4, four, four, four));
    attempt("a product of numbers of no type", multiply, product(7, 2, 2, 2, two, two, two));
    attempt("a product that is stored behind an array", multiply, product(0, 4, 4, 4, four, four, {array + 4, 4}));
    attempt("a product that is stored between numbers", multiply, product(0, 2, 2, 2, two, two, {array + 1, 2}));
    attempt("a product in a stream of nobody", multiply, product(0, 2, 2, 2, two, two, two, 0x7777));
    attempt("products over the end of all addresses", multiply, product(0, 2, 2, 2, two, two, far, 0, 4));
    attempt("more products than a call may have", multiply, product(0, 1, 1, 1, two, two, two, 0, most));
    attempt("products whose pointers lie nowhere", multiply, product(0, 2, 2, 2, two, two, two, 0, 4, 1));
    attempt("a product with a bias over the end of all addresses", multiply,
            product(0, 2, 2, 2, two, two, two, 0, 1, 0, huge - 3));
    attempt("a triangle of all numbers there are", solve, triangle(most, most, array, most, array, most));
    attempt("a triangle without a size", solve, triangle(0, 2, array, 2, array, 2));
    attempt("a sum over the end of all addresses", combine, vectors(4, 0, 2, huge - 3, 1, huge - 3, 1));
    attempt("a sum with steps that lead out of memory", combine, vectors(2, 1, 2, array, 1u << 31, array, 1));
    attempt("an operation that is not there", combine, vectors(10, 0, 2, array, 1, array, 1));
    attempt("more random numbers than there are bytes", Operation::draw, numbers(1, 8, 0, huge / 4, 0, array));
    attempt("random numbers over the end of all addresses", Operation::draw, numbers(1, 4, 0, 4, 0, huge - 3));
    attempt("random counts whose table is endless", Operation::draw, numbers(4, 4, 0, 4, 1e300, array));
    attempt("a distribution that is not there", Operation::draw, numbers(9, 4, 0, 4, 0, array));
    attempt("an answer of more numbers than it may have", Operation::draw_on_host, numbers(1, 8, 0, U{1} << 40, 0, 0));
    return !attack::write_result();
}
