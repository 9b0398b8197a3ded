// A bare number is no bandwidth: of which unit?

#include "topology/units.hpp"

collsim::Bandwidth misuse() {
#ifdef COLLSIM_MUST_NOT_COMPILE
  return 450;
#else
  return collsim::Bandwidth::bytes_per_second(450);
#endif
}
