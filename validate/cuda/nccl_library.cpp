#include "validate/cuda/nccl_library.hpp"

#include <dlfcn.h>

#include "topology/error.hpp"

namespace collsim {

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw InputError("NCCL cannot be used: " + what, "--backend",
                   "install libnccl 2.13 or later, or name its folder in LD_LIBRARY_PATH");
}

std::string text_of_version(int version) {
  // Since 2.9 the numbers have two digits each. Source: nccl.h, NCCL_VERSION.
  return std::to_string(version / 10'000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

template <class Function>
void find(void* library, const std::string& file, const char* name, Function& function) {
  void* const address = dlsym(library, name);
  if (address == nullptr) {
    refuse(file + " has no function " + name);
  }
  function = reinterpret_cast<Function>(address);  // NOLINT(*-reinterpret-cast): as dlsym is meant
}

}  // namespace

void NcclLibrary::Close::operator()(void* library) const noexcept { dlclose(library); }

NcclLibrary::NcclLibrary(const std::string& file)
    : library_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!library_) {
    const char* const why = dlerror();
    refuse(why == nullptr ? file : why);
  }
  const auto get = [&](const char* name, auto& function) {
    find(library_.get(), file, name, function);
  };
  get("ncclGetVersion", functions_.get_version);
  if (functions_.get_version(&version_) != 0 || version_ < oldest) {
    refuse(file + " is version " + text_of_version(version_));
  }
  get("ncclGetUniqueId", functions_.get_unique_id);
  get("ncclCommInitRank", functions_.comm_init_rank);
  get("ncclCommDestroy", functions_.comm_destroy);
  get("ncclCommAbort", functions_.comm_abort);
  get("ncclCommGetAsyncError", functions_.comm_get_async_error);
  get("ncclGetErrorString", functions_.get_error_string);
  get("ncclGetLastError", functions_.get_last_error);
  get("ncclGroupStart", functions_.group_start);
  get("ncclGroupEnd", functions_.group_end);
  get("ncclAllReduce", functions_.all_reduce);
  get("ncclBroadcast", functions_.broadcast);
  get("ncclReduce", functions_.reduce);
  get("ncclAllGather", functions_.all_gather);
  get("ncclReduceScatter", functions_.reduce_scatter);
  get("ncclSend", functions_.send);
  get("ncclRecv", functions_.receive);
}

std::string NcclLibrary::version_text() const { return text_of_version(version_); }

int nccl_number(DataType type) {
  switch (type) {
    case DataType::Int8:
      return 0;
    case DataType::Uint8:
      return 1;
    case DataType::Int32:
      return 2;
    case DataType::Uint32:
      return 3;
    case DataType::Int64:
      return 4;
    case DataType::Uint64:
      return 5;
    case DataType::Half:
      return 6;
    case DataType::Float32:
      return 7;
    case DataType::Float64:
      return 8;
    case DataType::Bfloat16:
      return 9;
    case DataType::Fp8E4m3:
      return 10;
    case DataType::Fp8E5m2:
      return 11;
  }
  COLLSIM_ENSURE(false, "every data type has a number");
}

int nccl_number(ReductionOp op) {
  switch (op) {
    case ReductionOp::Sum:
      return 0;
    case ReductionOp::Prod:
      return 1;
    case ReductionOp::Max:
      return 2;
    case ReductionOp::Min:
      return 3;
    case ReductionOp::Avg:
      return 4;
  }
  COLLSIM_ENSURE(false, "every operator has a number");
}

}  // namespace collsim
