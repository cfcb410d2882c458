// Every function of the runtime that is left: weak, so that those which are there take its place. A program that
// calls one ends, and the session says which, where: our limit, and no mistake of the program's.
namespace standin {
[[noreturn]] void unsupported(const char *what, const void *caller);
}

#define UNSUPPORTED(name)                                                                                         \
    extern "C" __attribute__((weak)) int name() {                                                                 \
        standin::unsupported(#name, __builtin_extract_return_addr(__builtin_return_address(0)));                  \
    }

#include "unsupported.inc"
