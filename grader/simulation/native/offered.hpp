// What a function of the library has in front of it that Python calls.
#pragma once

#define OFFERED [[gnu::visibility("default")]]
