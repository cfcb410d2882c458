// Includes a device that never ends.
//
// After it: the compiler was stopped by its limits, as the student's fault.
#include "/dev/zero"

int main() {}
