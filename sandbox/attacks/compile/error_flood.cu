// Gives as many errors as it can, with long texts and with characters that terminals obey.
//
// After it: a bounded number of them was kept, and what is shown is harmless.
#define E(x) static_assert(x, "\033[2J\033]0;owned\007 <script>alert(1)</script> ]]> &lol; =1+1 \\u202e");
#define T(x) E(x) E(x) E(x) E(x) E(x) E(x) E(x) E(x) E(x) E(x)
#define H(x) T(x) T(x) T(x) T(x) T(x) T(x) T(x) T(x) T(x) T(x)
H(0) H(0) H(0) H(0) H(0) H(0) H(0) H(0) H(0) H(0)

int main() {}
