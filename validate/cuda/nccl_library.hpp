#pragma once

// libnccl.so.2, loaded when it is needed: nothing of NCCL has to be there when the program is built.
//
// Declares only what is called. Names, types and numbers are those of the public nccl.h (2.13 and later), whose binary
// interface NVIDIA keeps compatible within version 2.

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "algorithms/collective.hpp"

struct CUstream_st;  // what cudaStream_t points to

namespace collsim {

struct NcclId {
  std::array<char, 128> bytes{};
};

/// The functions, under their names without `nccl`. Each returns 0 where it succeeds.
struct NcclFunctions {
  using Comm = void*;
  using Stream = CUstream_st*;

  int (*get_version)(int* version) = nullptr;
  int (*get_unique_id)(NcclId* id) = nullptr;
  int (*comm_init_rank)(Comm* comm, int ranks, NcclId id, int rank) = nullptr;
  int (*comm_destroy)(Comm comm) = nullptr;
  int (*comm_abort)(Comm comm) = nullptr;
  int (*comm_get_async_error)(Comm comm, int* error) = nullptr;
  const char* (*get_error_string)(int error) = nullptr;
  const char* (*get_last_error)(Comm comm) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*all_reduce)(const void* send, void* receive, std::size_t count, int type, int op, Comm comm,
                    Stream stream) = nullptr;
  int (*broadcast)(const void* send, void* receive, std::size_t count, int type, int root,
                   Comm comm, Stream stream) = nullptr;
  int (*reduce)(const void* send, void* receive, std::size_t count, int type, int op, int root,
                Comm comm, Stream stream) = nullptr;
  int (*all_gather)(const void* send, void* receive, std::size_t count, int type, Comm comm,
                    Stream stream) = nullptr;
  int (*reduce_scatter)(const void* send, void* receive, std::size_t count, int type, int op,
                        Comm comm, Stream stream) = nullptr;
  int (*send)(const void* send, std::size_t count, int type, int peer, Comm comm,
              Stream stream) = nullptr;
  int (*receive)(void* receive, std::size_t count, int type, int peer, Comm comm,
                 Stream stream) = nullptr;
};

class NcclLibrary {
 public:
  static constexpr int oldest = 21'300;            ///< 2.13: ncclGetLastError
  static constexpr int shares_gpus = 23'003;       ///< 2.30.3: several ranks a GPU
  static constexpr int has_8_bit_floats = 22'400;  ///< 2.24

  /// Throws: InputError where it cannot be loaded, lacks a function, or is too old.
  explicit NcclLibrary(const std::string& file = "libnccl.so.2");

  [[nodiscard]] const NcclFunctions& call() const { return functions_; }
  [[nodiscard]] int version() const { return version_; }
  [[nodiscard]] std::string version_text() const;

 private:
  struct Close {
    void operator()(void* library) const noexcept;
  };
  std::unique_ptr<void, Close> library_;
  NcclFunctions functions_;
  int version_ = 0;
};

/// NCCL's numbers. Source: nccl.h, ncclDataType_t and ncclRedOp_t.
[[nodiscard]] int nccl_number(DataType type);
[[nodiscard]] int nccl_number(ReductionOp op);

}  // namespace collsim
