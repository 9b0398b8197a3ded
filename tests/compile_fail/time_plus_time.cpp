// Two points in time have no sum.

#include "topology/units.hpp"

collsim::Time misuse(collsim::Time a) {
#ifdef COLLSIM_MUST_NOT_COMPILE
  return a + a;
#else
  return a + collsim::Duration(1);
#endif
}
