#pragma once

// Work on all cores.

#include <cstddef>
#include <functional>

namespace collsim {

/// Runs the body for 0 … count - 1 on as many threads as there are cores, in the order of numbers as threads become
/// free. After an exception no further body is begun; that of the lowest number is thrown again. `progress`, if
/// given, is called by the calling thread with how many are done.
void for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& body,
                          const std::function<void(std::size_t done)>& progress = {});

}  // namespace collsim
