// Has an array of 32 GB that is not zero, so that it would have to be in the file.
//
// After it: the compiler or the assembler was stopped by its limits, and the disk is not full.
char huge[1ul << 35] = {1};

int main() { return huge[1]; }
