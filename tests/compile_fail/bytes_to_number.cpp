// An amount of data does not turn into a number by itself.

#include "topology/units.hpp"

long long misuse(collsim::Bytes bytes) {
#ifdef COLLSIM_MUST_NOT_COMPILE
  return bytes;
#else
  return bytes.count();
#endif
}
