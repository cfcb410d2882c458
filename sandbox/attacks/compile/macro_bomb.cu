// A macro that grows to 2 * 10^10 words.
//
// After it: the compiler was stopped by its limits, and its memory is free again.
#define A(x) x x x x x x x x x x
#define B(x) A(A(A(A(A(x)))))

int words[] = {B(B(1 +)) 0};

int main() {}
