// What a measurement needs beside the kernels that are measured.

// Keeps the GPU busy without touching memory, while the host gets ahead: what follows is launched without gaps.
extern "C" __global__ void hold(long long nanoseconds) {
  long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - start < nanoseconds);
}

// Reads `count` times 16 bytes, and so drives everything else out of the L2 cache without leaving dirty lines in it.
extern "C" __global__ void read_all(const float4* __restrict__ from, int count, float* never) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    float4 four = from[i];
    sum += four.x + four.y + four.z + four.w;
  }
  if (sum == -1.0f) *never = sum;
}

// A copy as kernels make one; the driver's own goes through a copy engine, which is slower.
extern "C" __global__ void copy_all(const float4* __restrict__ from, float4* __restrict__ to, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) to[i] = from[i];
}

// Each thread gathers 64 entries of `from` (2**bits floats) from places that a hash gives: 32 bytes each, out of L2.
extern "C" __global__ void gather(const float* __restrict__ from, int bits, float* never) {
  unsigned place = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 12345u;
  float sum = 0;
  #pragma unroll 16
  for (int k = 0; k < 64; ++k) {
    place = place * 1664525u + 1013904223u;
    sum += from[place >> (32 - bits)];
  }
  if (sum == -1.0f) *never = sum;
}
