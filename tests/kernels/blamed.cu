// A program that multiplies, and then does something by itself: what, its argument says. With WRONG its kernel
// races, writes outside its array and is wrong. With STORED it stores what the host has computed.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <csignal>
#include <string>
#include <vector>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef WRONG
__global__ void multiply(const float *A, const float *B, float *C, int n) {
    __shared__ float row[64];
    int i = threadIdx.x;
    row[i] = A[i];
    C[i] = row[(i + 9) % 64] * B[i];
    C[i + 1] = 1;
}
#elif defined(STORED)
__device__ float stored[64];
__global__ void multiply(const float *A, const float *B, float *C, int n) { C[threadIdx.x] = stored[threadIdx.x]; }
#else
__global__ void multiply(const float *A, const float *B, float *C, int n) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += A[threadIdx.x / n * n + k] * B[k * n + threadIdx.x % n];
    C[threadIdx.x] = sum;
}
#endif
__global__ void slow(float *C) { for (int i = 0; i < 1500; ++i) C[threadIdx.x] += 1; }
static void to_all(const std::string &bytes) {
    for (int fd = 3; fd < 64; ++fd) if (write(fd, bytes.data(), bytes.size()) < 0) errno = 0;
}
static void *ends_soon(void *) { usleep(50000); _exit(0); }
static float *C;
static void leave(const char *way, const char *hex) {
    std::string is = way, bytes;
    for (const char *at = hex; at[0] && at[1]; at += 2) bytes += char(std::stoi(std::string(at, 2), nullptr, 16));
    if (is == "bytes") to_all(bytes);
    if (is == "bytes of a child" && !syscall(SYS_fork)) { to_all(bytes); _exit(0); }
    if (is == "bytes and a signal") { to_all(bytes); raise(SIGKILL); }
    if (is == "bytes without end") for (int i = 0; i < 10000; ++i) to_all(std::string(4096, 'x'));
    if (is == "close") for (int fd = 3; fd < 64; ++fd) close(fd);
    if (is == "replace") for (int fd = 3, null = open("/dev/null", O_RDWR); fd < 64; ++fd) if (fd != null) dup2(null, fd);
    if (is == "become another") execl("/bin/true", "true", (char *)nullptr);
    if (is == "end in a launch") { pthread_t t; pthread_create(&t, nullptr, ends_soon, nullptr); slow<<<1, 32>>>(C); }
    if (is == "no descriptors") while (open("/dev/null", O_RDONLY) >= 0) {}
    if (is == "a call") { cudaTextureObject_t t; cudaCreateTextureObject(&t, nullptr, nullptr, nullptr); }
    if (is == "a call of a function that is not there") { cudaResourceDesc d; cudaGetTextureObjectResourceDesc(&d, 0); }
}
int main(int argc, char **argv) {
    float a[64], b[64], *A, *B;
    for (int i = 0; i < 64; ++i) a[i] = i % 7 - 3, b[i] = i % 5 - 2;
    cudaMalloc(&A, sizeof a), cudaMalloc(&B, sizeof b), cudaMalloc(&C, sizeof a);
    cudaMemcpy(A, a, sizeof a, cudaMemcpyHostToDevice), cudaMemcpy(B, b, sizeof b, cudaMemcpyHostToDevice);
#ifdef STORED
    float own[64] = {};
    for (int i = 0; i < 64; ++i) for (int k = 0; k < 8; ++k) own[i] += a[i / 8 * 8 + k] * b[k * 8 + i % 8];
    cudaMemcpyToSymbol(stored, own, sizeof own);
#endif
    multiply<<<1, 64>>>(A, B, C, 8);
    std::printf("%d\n", (int)cudaDeviceSynchronize() + EXTRA);
    std::fflush(stdout);
    leave(argv[1], argc > 2 ? argv[2] : "");
    cudaFree(A), cudaFree(B), cudaFree(C);
    return 0;
}
