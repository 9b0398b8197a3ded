#include "topology/gpu_memory.hpp"

#include <array>
#include <cstddef>

#include "topology/error.hpp"
#include "topology/quantity_text.hpp"

namespace collsim {

namespace {

template <class Quantity>
void require_above_zero(const std::optional<SourcedFigure<Quantity>>& figure, const char* what,
                        const std::string& path) {
  if (!figure || figure->value > Quantity{}) {
    return;
  }
  throw InputError(std::string("expected a ") + what + " above 0, got " + to_text(figure->value),
                   path + "." + what + ".value", "leave out what is not known");
}

template <class Memory>
void require_figures(const Memory& memory, const std::string& path) {
  require_above_zero(memory.capacity, "capacity", path);
  require_above_zero(memory.bandwidth, "bandwidth", path);
  require_above_zero(memory.latency, "latency", path);
}

}  // namespace

std::string_view name_of(MemoryLevel level) {
  constexpr std::array<std::string_view, 6> names{"registers", "l1", "l2",
                                                  "l2-far",    "l3", "memory"};
  return names.at(static_cast<std::size_t>(level));
}

std::string_view name_of(FigureSource source) {
  constexpr std::array<std::string_view, 4> names{"nominal", "measured", "literature", "estimate"};
  return names.at(static_cast<std::size_t>(source));
}

void require_gpu_memory(std::span<const MemoryLevelSpec> levels, const std::string& path) {
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const MemoryLevelSpec& level = levels[i];
    const std::string here = path + "[" + std::to_string(i) + "]";
    if (i > 0 && level.level <= levels[i - 1].level) {
      throw InputError("expected a level farther out than " +
                           in_quotes(name_of(levels[i - 1].level)) + ", got " +
                           in_quotes(name_of(level.level)),
                       here + ".level", "order: registers, l1, l2, l2-far, l3, memory");
    }
    require_figures(level, here);
  }
}

void require_host_memory(const HostMemorySpec& memory, const std::string& path) {
  require_figures(memory, path);
}

}  // namespace collsim
