#include "tools/rank_place.hpp"

#include <unistd.h>

#include <set>
#include <sstream>
#include <utility>

#include "tools/whole_number.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

std::string text_of(const RankPlace& place) {
  std::string text = std::to_string(place.process) + "\n" + place.host + "\n";
  if (place.gpu) {
    text +=
        std::to_string(place.gpu->device) + "\n" + place.gpu->bus + "\n" + place.gpu->name + "\n";
  }
  return text;
}

RankPlace read_place(const std::string& text) {
  std::istringstream lines(text);
  const auto next = [&lines] {
    std::string line;
    std::getline(lines, line);
    return printable(line, line.size());
  };
  RankPlace place;
  place.process = whole_number<std::uint32_t>(next()).value_or(0);
  place.host = next();
  if (const std::string device = next(); !device.empty()) {
    place.gpu = RankGpu{whole_number<std::uint32_t>(device).value_or(0), next(), next()};
  }
  return place;
}

}  // namespace

RankPlace place_here(const std::string& host) {
  return {host, static_cast<std::uint32_t>(getpid()), std::nullopt};
}

std::vector<RankPlace> exchange_places(ProcessGroup& group, const RankPlace& own) {
  std::vector<RankPlace> places;
  places.reserve(group.ranks());
  for (const std::string& text : group.exchange(text_of(own))) {
    places.push_back(read_place(text));
  }
  return places;
}

std::uint32_t gpus_of(const std::vector<RankPlace>& places) {
  std::set<std::pair<std::string, std::string>> gpus;
  for (const RankPlace& place : places) {
    if (place.gpu) {
      gpus.emplace(place.host, place.gpu->bus);
    }
  }
  return static_cast<std::uint32_t>(gpus.size());
}

}  // namespace collsim
