#pragma once

// Colour refinement: the coarsest partition of the vertices of a labelled graph in which all vertices
// of a class look alike: they began with one colour, and have as many edges of each label into each
// class as the others (an equitable partition).
//
// Every vertex carries the sum, modulo 2^64, of a hash of (label, class at the other end) over its
// edges. When a vertex moves to another class, its terms in the sums of those that look at it are
// exchanged, and only they are looked at again. Of a class that falls apart, the vertices whose sums
// did not change keep its number, or else the largest part: so the work is about that of
// reading the edges once, and once more for each vertex whenever its class splits.
// Hashes may collide, though hardly ever: is_equitable() compares the edges themselves.
// Source: Weisfeiler and Leman 1968; Paige and Tarjan 1987 (follow up all parts but one).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace collsim::detail {

/// Spreads the bits of a number: the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e37'79b9'7f4a'7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58'476d'1ce4'e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d0'49bb'1331'11ebU;
  return value ^ (value >> 31U);
}

/// A hash of a sequence, to which numbers are added one by one.
class SequenceHash {
 public:
  SequenceHash& add(std::uint64_t value) {
    state_ = mixed(state_ ^ value) + 0x9e37'79b9'7f4a'7c15U;
    return *this;
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

class LabelledGraph {
 public:
  using Vertex = std::uint32_t;

  /// Vertices of different colours are never alike.
  Vertex add_vertex(std::uint64_t colour) {
    colours_.push_back(colour);
    return static_cast<Vertex>(colours_.size() - 1);
  }
  void set_colour(Vertex vertex, std::uint64_t colour) { colours_[vertex] = colour; }
  /// Tells a vertex apart from those of its colour by one thing more.
  void add_to_colour(Vertex vertex, std::uint64_t what) {
    colours_[vertex] = mixed(colours_[vertex] ^ mixed(what));
  }
  /// What `vertex` is depends on the class of `other`.
  void add_edge(Vertex vertex, Vertex other, std::uint64_t label) {
    edges_.push_back({vertex, other, label});
  }
  [[nodiscard]] std::size_t vertices() const { return colours_.size(); }
  [[nodiscard]] std::size_t edges() const { return edges_.size(); }

  struct Edge {
    Vertex vertex = 0;
    Vertex other = 0;
    std::uint64_t label = 0;
  };
  [[nodiscard]] const std::vector<Edge>& all_edges() const { return edges_; }
  [[nodiscard]] const std::vector<std::uint64_t>& colours() const { return colours_; }

 private:
  std::vector<std::uint64_t> colours_;
  std::vector<Edge> edges_;
};

struct Partition {
  std::vector<std::uint32_t> of_vertex;  ///< classes, numbered from 0
  std::uint32_t classes = 0;
};

/// Absent: it took more than `most_moves` moves of a vertex to another class.
/// Complexity: O(edges), and for each move O(edges at that vertex · log).
[[nodiscard]] std::optional<Partition> coarsest_partition(const LabelledGraph& graph,
                                                          std::size_t most_moves);

/// Whether vertices of a class have one colour and the same edges (label, class at the other end, how
/// often). Complexity: O(edges · log degree).
[[nodiscard]] bool is_equitable(const LabelledGraph& graph, const Partition& partition);

}  // namespace collsim::detail
