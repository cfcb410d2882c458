// What programs written like NVIDIA's samples take from their `helper_functions.h`: arguments, a stopwatch, and
// whether results agree.
#ifndef GRADER_HELPER_FUNCTIONS_H
#define GRADER_HELPER_FUNCTIONS_H

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "helper_string.h"
#include "helper_timer.h"

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif

// Whether the relative error, in the norm of L2, is below a bound.
inline bool sdkCompareL2fe(const float *reference, const float *data, const unsigned int count, const float bound) {
    double error = 0, norm = 0;
    for (unsigned int index = 0; index < count; ++index) {
        const double difference = static_cast<double>(reference[index]) - data[index];
        error += difference * difference;
        norm += static_cast<double>(reference[index]) * reference[index];
    }
    return norm > 0 && std::sqrt(error) < bound * std::sqrt(norm);
}

#endif
