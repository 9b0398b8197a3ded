// Time is counted in whole picoseconds.

#include "topology/units.hpp"

collsim::Duration misuse() {
#ifdef COLLSIM_MUST_NOT_COMPILE
  return collsim::Duration(1.5);
#else
  return collsim::Duration(1);
#endif
}
