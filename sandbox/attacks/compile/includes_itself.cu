// Includes itself twice in each of itself.
//
// After it: the compiler stopped at its limit of depth, or was stopped by ours.
#ifndef DEPTH
#define DEPTH
#endif
#include __FILE__
#include __FILE__

int main() {}
