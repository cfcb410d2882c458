// Has the assembler repeat a word 2^36 times.
//
// After it: the assembler was stopped by its limits, and the disk is not full.
asm(".data\n.rept 1 << 20\n.rept 1 << 16\n.quad 0x41414141\n.endr\n.endr\n.text\n");

int main() {}
