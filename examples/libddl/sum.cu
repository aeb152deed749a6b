// SPDX-License-Identifier: MIT
// The same in GPU memory, without a copy to the host.  nvcc -std=c++20 sum.cu $(pkg-config --cflags --libs ddl)
#include <ddl/ddl.hpp>

#include <cstdio>

__global__ void fill(float* values, int n, float value) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) values[i] = value;
}

int main(int argc, char** argv) try {
  constexpr int n = 1'000'000;
  ddl::Context context(argc, argv, {.mode = ddl::Mode::nccl});  // takes a GPU for this rank
  float* gradient = nullptr;
  float first = 0.0F;
  cudaMalloc(&gradient, n * sizeof(float));
  fill<<<1, 1024>>>(gradient, n, static_cast<float>(context.rank() + 1));
  context.all_reduce(ddl::device_tensor(gradient, n, "gradient", cudaStreamLegacy), ddl::Operation::average);
  cudaMemcpy(&first, gradient, sizeof first, cudaMemcpyDeviceToHost);  // the default stream waits for the sum
  std::printf("rank %d of %d on %s: %g\n", context.rank(), context.size(), context.device().c_str(), first);
  cudaFree(gradient);
} catch (const ddl::Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  return 1;
}
