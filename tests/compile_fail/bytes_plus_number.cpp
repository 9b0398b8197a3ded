// Data and a number have no sum.

#include "topology/units.hpp"

collsim::Bytes misuse(collsim::Bytes bytes) {
#ifdef COLLSIM_MUST_NOT_COMPILE
  return bytes + 1;
#else
  return bytes + collsim::Bytes(1);
#endif
}
