// A library with the name of a function of NCCL, and a version too old to be used.

// NOLINTNEXTLINE(readability-identifier-naming): NCCL's name
extern "C" int ncclGetVersion(int* version) {
  *version = 21'206;
  return 0;
}
