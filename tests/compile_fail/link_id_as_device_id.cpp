// Ids of different things do not mix.

#include "topology/ids.hpp"

collsim::DeviceId misuse(collsim::LinkId link) {
#ifdef COLLSIM_MUST_NOT_COMPILE
  return link;
#else
  return collsim::DeviceId(link.value());
#endif
}
