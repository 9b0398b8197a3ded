#include "topology/io/read_gpu_memory.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace collsim {

namespace {

/// A level's word and the name it has where the description gives none.
struct LevelWords {
  MemoryLevel level;
  std::string_view name;
};

constexpr std::array<LevelWords, 6> levels{{{MemoryLevel::Registers, "registers"},
                                            {MemoryLevel::L1, "L1, shared memory"},
                                            {MemoryLevel::L2, "L2"},
                                            {MemoryLevel::L2Far, "L2, far part"},
                                            {MemoryLevel::L3, "L3"},
                                            {MemoryLevel::Memory, "memory"}}};
constexpr std::array<FigureSource, 4> sources{FigureSource::Nominal, FigureSource::Measured,
                                              FigureSource::Literature, FigureSource::Estimate};

MemoryLevel read_level(const MappingReader& reader) {
  std::array<Choice<MemoryLevel>, levels.size()> choices{};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    choices[i] = {name_of(levels[i].level), levels[i].level};
  }
  return reader.choice("level", std::span<const Choice<MemoryLevel>>(choices));
}

FigureSource read_source(const MappingReader& reader) {
  std::array<Choice<FigureSource>, sources.size()> choices{};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    choices[i] = {name_of(sources[i]), sources[i]};
  }
  return reader.choice("source", std::span<const Choice<FigureSource>>(choices));
}

/// `read` reads the value of a figure: { value: 33 MiB, source: nominal }.
template <class Quantity>
std::optional<SourcedFigure<Quantity>> read_figure(const MappingReader& level,
                                                   const std::string& key,
                                                   Quantity (*read)(const MappingReader&)) {
  if (!level.has(key)) {
    return std::nullopt;
  }
  const MappingReader reader = level.mapping(key, {"value", "source"});
  SourcedFigure<Quantity> figure;
  figure.value = read(reader);
  figure.source = read_source(reader);
  return figure;
}

/// The figures of a level, or of the host's memory.
template <class Memory>
void read_figures(const MappingReader& reader, Memory& memory) {
  memory.capacity = read_figure<Bytes>(reader, "capacity", [](const MappingReader& figure) {
    return figure.bytes("value", Memory::most);
  });
  memory.bandwidth = read_figure<Bandwidth>(
      reader, "bandwidth", [](const MappingReader& figure) { return figure.bandwidth("value"); });
  memory.latency = read_figure<Duration>(
      reader, "latency", [](const MappingReader& figure) { return figure.duration("value"); });
}

MemoryLevelSpec read_memory_level(const MappingReader& reader) {
  MemoryLevelSpec level;
  level.level = read_level(reader);
  const std::string_view name = levels.at(static_cast<std::size_t>(level.level)).name;
  level.name = reader.text("name", Default<std::string>{std::string(name)});
  read_figures(reader, level);
  if (reader.has("note")) {
    level.note = reader.text("note");
  }
  return level;
}

}  // namespace

std::vector<MemoryLevelSpec> read_gpu_memory(ReadContext context, const MappingReader& node) {
  std::vector<MemoryLevelSpec> ladder;
  for (const LocatedNode& item : node.items("gpu_memory")) {
    ladder.push_back(read_memory_level(MappingReader(
        context, item, {"level", "name", "capacity", "bandwidth", "latency", "note"})));
  }
  return ladder;
}

std::optional<HostMemorySpec> read_host_memory(const MappingReader& node) {
  if (!node.has("host_memory")) {
    return std::nullopt;
  }
  const MappingReader reader =
      node.mapping("host_memory", {"name", "capacity", "bandwidth", "latency"});
  HostMemorySpec memory;
  memory.name = reader.text("name", Default<std::string>{"host memory"});
  read_figures(reader, memory);
  return memory;
}

}  // namespace collsim
