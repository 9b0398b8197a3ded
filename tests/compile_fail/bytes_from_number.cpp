// A bare number is no amount of data.

#include "topology/units.hpp"

collsim::Bytes misuse() {
#ifdef COLLSIM_MUST_NOT_COMPILE
  return 64;
#else
  return collsim::Bytes(64);
#endif
}
