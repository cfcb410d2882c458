// cuRAND's host API, as far as `curand.h` beside the headers declares it: the session draws the numbers, of a seed and
// a position. A generator is this program's own affair, and so is how many numbers it has drawn.
#include "curand.h"
#include "errors.hpp"
#include "library.hpp"

#include <algorithm>
#include <cstring>

struct curandGenerator_st {
    std::uint32_t type;
    bool on_host;
    std::uint64_t seed = 0, position = 0;
    cudaStream_t stream = nullptr;
};

namespace standin {
namespace {

// As the session numbers them (grader/running/device/library_requests.py).
enum class Distribution : std::uint32_t { bits = 0, uniform = 1, normal = 2, log_normal = 3, poisson = 4 };

// What comes with one answer, where a generator is the host's (grader/running/device/random_numbers.py).
constexpr std::size_t numbers_at_once = 1 << 16;
constexpr double largest_mean = 400'000; // curandGeneratePoisson

LiveHandles<curandGenerator_st> &generators() {
    static auto *table = new LiveHandles<curandGenerator_st>;
    return *table;
}

curandStatus_t create(curandGenerator_t *generator, curandRngType_t type, bool on_host, const void *caller) {
    if (!generator) return CURAND_STATUS_INTERNAL_ERROR;
    if (forked()) return CURAND_STATUS_INITIALIZATION_FAILED;
    switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT: type = CURAND_RNG_PSEUDO_XORWOW; break;
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10: break;
    case CURAND_RNG_QUASI_DEFAULT:
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64: unsupported("cuRAND with a quasirandom generator", caller);
    default: return CURAND_STATUS_TYPE_ERROR;
    }
    *generator = generators().make();
    (*generator)->type = type, (*generator)->on_host = on_host;
    return CURAND_STATUS_SUCCESS;
}

struct Draw {
    Distribution distribution;
    std::size_t count;
    double first, second; // mean and standard deviation, where it has them
    const void *caller;
};

Payload request(const curandGenerator_st &generator, const Draw &draw, std::size_t width, std::size_t start,
                std::size_t count, const void *target) {
    Payload payload;
    payload.add(draw.distribution).add(static_cast<std::uint32_t>(width)).add(generator.type).add(generator.seed);
    payload.add(generator.position + start).add(std::uint64_t{count}).add(draw.first).add(draw.second);
    return payload.add(target).add(generator.stream);
}

cudaError_t draw_on_device(const curandGenerator_st &generator, const Draw &draw, std::size_t width,
                           const void *numbers) {
    Payload payload = request(generator, draw, width, 0, draw.count, numbers);
    return compute(Operation::draw, payload, generator.stream, draw.caller).code;
}

// The program's own memory is written here, piece by piece: a fault in it has a line.
template <typename Number>
cudaError_t draw_here(const curandGenerator_st &generator, const Draw &draw, Number *numbers) {
    for (std::size_t start = 0; start < draw.count; start += numbers_at_once) {
        std::size_t count = std::min(numbers_at_once, draw.count - start);
        if (forked()) return cudaErrorInitializationError;
        Answer answer = ask(Operation::draw_on_host, draw.caller,
                            request(generator, draw, sizeof(Number), start, count, nullptr));
        if (answer.code != cudaSuccess) return answer.code;
        std::memcpy(numbers + start, answer.bytes.data(), std::min(answer.bytes.size(), count * sizeof(Number)));
    }
    return cudaSuccess;
}

template <typename Number> curandStatus_t generate(curandGenerator_t generator, Number *numbers, const Draw &draw) {
    if (!generators().has(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    bool is_in_pairs = draw.distribution == Distribution::normal || draw.distribution == Distribution::log_normal;
    if (is_in_pairs && draw.count % 2) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    if (!draw.count) return CURAND_STATUS_SUCCESS;
    cudaError_t code = generator->on_host ? draw_here(*generator, draw, numbers)
                                          : draw_on_device(*generator, draw, sizeof(Number), numbers);
    if (code != cudaSuccess) return CURAND_STATUS_LAUNCH_FAILURE;
    generator->position += draw.count;
    return CURAND_STATUS_SUCCESS;
}

} // namespace
} // namespace standin

using namespace standin;

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type) {
    return create(generator, type, false, CALLER);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type) {
    return create(generator, type, true, CALLER);
}
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
    return generators().destroy(generator) ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}
curandStatus_t curandGetVersion(int *version) {
    if (!version) return CURAND_STATUS_OUT_OF_RANGE;
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetProperty(libraryPropertyType type, int *value) {
    if (!value || type > PATCH_LEVEL) return CURAND_STATUS_OUT_OF_RANGE;
    const int parts[] = {CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH};
    *value = parts[type];
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
    if (!generators().has(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
    if (!generators().has(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    generator->seed = seed, generator->position = 0;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
    if (!generators().has(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    generator->position = offset;
    return CURAND_STATUS_SUCCESS;
}
// Numbers come in the same order in all of them.
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
    if (!generators().has(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    bool is_pseudo = order >= CURAND_ORDERING_PSEUDO_BEST && order <= CURAND_ORDERING_PSEUDO_DYNAMIC;
    return is_pseudo ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
}
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
    return generators().has(generator) ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned *numbers, std::size_t count) {
    return generate(generator, numbers, {Distribution::bits, count, 0, 0, CALLER});
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *numbers, std::size_t count) {
    return generate(generator, numbers, {Distribution::uniform, count, 0, 0, CALLER});
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *numbers, std::size_t count) {
    return generate(generator, numbers, {Distribution::uniform, count, 0, 0, CALLER});
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float *numbers, std::size_t count, float mean,
                                    float deviation) {
    return generate(generator, numbers, {Distribution::normal, count, mean, deviation, CALLER});
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double *numbers, std::size_t count, double mean,
                                          double deviation) {
    return generate(generator, numbers, {Distribution::normal, count, mean, deviation, CALLER});
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float *numbers, std::size_t count, float mean,
                                       float deviation) {
    return generate(generator, numbers, {Distribution::log_normal, count, mean, deviation, CALLER});
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double *numbers, std::size_t count,
                                             double mean, double deviation) {
    return generate(generator, numbers, {Distribution::log_normal, count, mean, deviation, CALLER});
}
curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned *numbers, std::size_t count, double mean) {
    if (!(mean > 0 && mean <= largest_mean)) return CURAND_STATUS_OUT_OF_RANGE;
    return generate(generator, numbers, {Distribution::poisson, count, mean, 0, CALLER});
}

} // extern "C"
