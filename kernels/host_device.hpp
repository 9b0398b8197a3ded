#pragma once

// Marks functions that nvcc compiles for the GPU, too.

#if defined(__CUDACC__)
#define COLLSIM_HOST_DEVICE __host__ __device__
#else
#define COLLSIM_HOST_DEVICE
#endif
