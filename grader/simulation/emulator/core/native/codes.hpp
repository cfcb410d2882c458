// The codes of all operations, in the order of their names in `library.cpp`.
#pragma once

enum Code : unsigned short {
#define PURE1(name, ...) CODE_##name,
#define PURE2(name, ...) CODE_##name,
#define PURE3(name, ...) CODE_##name,
#include "pure.inc"
#include "rare.inc"
#undef PURE1
#undef PURE2
#undef PURE3
#define CONTROL(name) CODE_##name,
    CONTROL_OPS(CONTROL)
#undef CONTROL
    CODE_COUNT,
};
