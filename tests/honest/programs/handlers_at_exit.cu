// honest: handlers at exit, static destructors and constructors in their order
#include <cstdio>
#include <cstdlib>
struct Static {
    const char* name;
    explicit Static(const char* n) : name(n) { std::printf("made %s\n", name); }
    ~Static() { std::printf("gone %s\n", name); }
};
__attribute__((constructor)) static void before() { std::puts("before"); }
__attribute__((destructor)) static void after() { std::puts("after"); }
static Static first("first");
int main() {
    static Static second("second");
    std::atexit([] { std::puts("at exit"); });
    std::puts("main");
}
