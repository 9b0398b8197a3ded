#include "sim/refinement.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace collsim::detail {

namespace {

using Vertex = LabelledGraph::Vertex;

std::uint64_t term(std::uint64_t label, std::uint32_t class_of_other) {
  return mixed(label ^ mixed(class_of_other));
}

/// The end of an edge, listed by the vertex at the other one.
struct End {
  Vertex vertex = 0;
  std::uint64_t label = 0;
};

/// Edges by one of their ends.
struct Adjacency {
  std::vector<std::size_t> begin;  ///< by vertex, and the end
  std::vector<End> ends;

  enum class By : std::uint8_t { Looking, Seen };
  Adjacency(const LabelledGraph& graph, By by) : begin(graph.vertices() + 2) {
    for (const LabelledGraph::Edge& edge : graph.all_edges()) {
      ++begin[(by == By::Looking ? edge.vertex : edge.other) + 2];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    ends.resize(graph.edges());
    for (const LabelledGraph::Edge& edge : graph.all_edges()) {
      const Vertex at = by == By::Looking ? edge.vertex : edge.other;
      const Vertex far = by == By::Looking ? edge.other : edge.vertex;
      ends[begin[at + 1]++] = {far, edge.label};
    }
  }
};

class Refinement {
 public:
  explicit Refinement(const LabelledGraph& graph)
      : watchers_(graph, Adjacency::By::Seen), sums_(graph.vertices()), dirty_(graph.vertices()) {
    partition_.of_vertex.resize(graph.vertices());
    std::unordered_map<std::uint64_t, std::uint32_t> class_of_colour;
    for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
      const auto number = static_cast<std::uint32_t>(class_of_colour.size());
      const std::uint32_t its =
          class_of_colour.try_emplace(graph.colours()[vertex], number).first->second;
      partition_.of_vertex[vertex] = its;
    }
    sizes_.resize(class_of_colour.size());
    class_sums_.resize(class_of_colour.size());
    for (const std::uint32_t its : partition_.of_vertex) {
      ++sizes_[its];
    }
    for (const LabelledGraph::Edge& edge : graph.all_edges()) {
      sums_[edge.vertex] += term(edge.label, partition_.of_vertex[edge.other]);
    }
    to_look_at_.resize(graph.vertices());
    std::iota(to_look_at_.begin(), to_look_at_.end(), Vertex{0});
  }

  std::optional<Partition> run(std::size_t most_moves) {
    std::size_t moves = 0;
    while (!to_look_at_.empty()) {
      split();
      moves += moves_.size();
      if (moves > most_moves) {
        return std::nullopt;
      }
      tell_watchers();
    }
    partition_.classes = static_cast<std::uint32_t>(sizes_.size());
    return std::move(partition_);
  }

 private:
  struct Move {
    Vertex vertex = 0;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };

  /// Divides the classes of those to look at by their sums.
  void split() {
    std::ranges::sort(to_look_at_, [this](Vertex a, Vertex b) {
      return std::pair(partition_.of_vertex[a], sums_[a]) <
             std::pair(partition_.of_vertex[b], sums_[b]);
    });
    moves_.clear();
    std::size_t begin = 0;
    while (begin < to_look_at_.size()) {
      const std::uint32_t its = partition_.of_vertex[to_look_at_[begin]];
      std::size_t end = begin;
      while (end < to_look_at_.size() && partition_.of_vertex[to_look_at_[end]] == its) {
        ++end;
      }
      split_class(its, begin, end);
      begin = end;
    }
    for (const Vertex vertex : to_look_at_) {
      dirty_[vertex] = 0;
    }
    for (const Move& move : moves_) {
      partition_.of_vertex[move.vertex] = move.to;
    }
    to_look_at_.clear();
  }

  /// Positions [begin, end) of to_look_at_ are those of a class, equal sums side by side.
  void split_class(std::uint32_t its, std::size_t begin, std::size_t end) {
    struct Part {
      std::size_t begin;
      std::size_t end;
    };
    std::vector<Part> parts;
    for (std::size_t i = begin; i < end;) {
      std::size_t next = i;
      while (next < end && sums_[to_look_at_[next]] == sums_[to_look_at_[i]]) {
        ++next;
      }
      parts.push_back({i, next});
      i = next;
    }
    const bool others = sizes_[its] > end - begin;
    const auto keeps = [&](const Part& part) {
      return sums_[to_look_at_[part.begin]] == class_sums_[its];
    };
    const auto members = [](const Part& part) { return part.end - part.begin; };
    const auto stays =
        others ? std::ranges::find_if(parts, keeps) : std::ranges::max_element(parts, {}, members);
    if (!others) {
      class_sums_[its] = sums_[to_look_at_[stays->begin]];
    }
    const auto kept = static_cast<std::size_t>(stays - parts.begin());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i == kept) {
        continue;
      }
      const auto number = static_cast<std::uint32_t>(sizes_.size());
      const std::size_t size = parts[i].end - parts[i].begin;
      sizes_.push_back(size);
      sizes_[its] -= size;
      class_sums_.push_back(sums_[to_look_at_[parts[i].begin]]);
      for (std::size_t j = parts[i].begin; j < parts[i].end; ++j) {
        moves_.push_back({to_look_at_[j], its, number});
      }
    }
  }

  void tell_watchers() {
    for (const Move& move : moves_) {
      for (std::size_t i = watchers_.begin[move.vertex]; i < watchers_.begin[move.vertex + 1];
           ++i) {
        const End& watcher = watchers_.ends[i];
        sums_[watcher.vertex] += term(watcher.label, move.to) - term(watcher.label, move.from);
        if (dirty_[watcher.vertex] == 0) {
          dirty_[watcher.vertex] = 1;
          to_look_at_.push_back(watcher.vertex);
        }
      }
    }
  }

  Adjacency watchers_;
  Partition partition_;
  std::vector<std::size_t> sizes_;         ///< by class
  std::vector<std::uint64_t> class_sums_;  ///< by class: of those that were not to be looked at
  std::vector<std::uint64_t> sums_;        ///< by vertex
  std::vector<std::uint8_t> dirty_;        ///< by vertex: in to_look_at_
  std::vector<Vertex> to_look_at_;
  std::vector<Move> moves_;
};

}  // namespace

std::optional<Partition> coarsest_partition(const LabelledGraph& graph, std::size_t most_moves) {
  return Refinement(graph).run(most_moves);
}

bool is_equitable(const LabelledGraph& graph, const Partition& partition) {
  using Seen = std::vector<std::pair<std::uint64_t, std::uint32_t>>;
  const Adjacency edges(graph, Adjacency::By::Looking);
  const auto seen_by = [&](Vertex vertex) {
    Seen seen;
    for (std::size_t i = edges.begin[vertex]; i < edges.begin[vertex + 1]; ++i) {
      seen.emplace_back(edges.ends[i].label, partition.of_vertex[edges.ends[i].vertex]);
    }
    std::ranges::sort(seen);
    return seen;
  };
  std::vector<std::optional<Vertex>> first(partition.classes);
  std::vector<Seen> seen_by_first(partition.classes);
  for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    const std::uint32_t its = partition.of_vertex[vertex];
    Seen seen = seen_by(vertex);
    if (!first[its]) {
      first[its] = vertex;
      seen_by_first[its] = std::move(seen);
    } else if (graph.colours()[*first[its]] != graph.colours()[vertex] ||
               seen_by_first[its] != seen) {
      return false;
    }
  }
  return true;
}

}  // namespace collsim::detail
