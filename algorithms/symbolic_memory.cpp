#include "algorithms/symbolic_memory.hpp"

#include <algorithm>

namespace collsim::detail {

void SymbolicData::append(std::int64_t bytes, SymbolicValue value) {
  if (bytes == 0) {
    return;
  }
  if (!pieces_.empty() && pieces_.back().value.advanced(pieces_.back().bytes) == value) {
    pieces_.back().bytes += bytes;
  } else {
    pieces_.push_back({bytes, value});
  }
}

SymbolicReduction reduce(const SymbolicData& left, const SymbolicData& right, RankSets& sets) {
  SymbolicReduction result;
  auto reduced = [&](SymbolicValue a, SymbolicValue b) {
    if (a.is_spoilt() || b.is_spoilt()) {
      return SymbolicValue::spoilt();
    }
    using Kind = ReductionClash::Kind;
    Kind kind = Kind::DifferentElements;
    if (a.origin == b.origin) {
      if (const auto both = sets.disjoint_union(a.contributors, b.contributors)) {
        return SymbolicValue{a.origin, *both};
      }
      kind = Kind::CommonContributor;
    }
    if (!result.clash) {
      result.clash = ReductionClash{kind, a, b};
    }
    return SymbolicValue::spoilt();
  };

  auto l = left.pieces().begin();
  auto r = right.pieces().begin();
  std::int64_t l_done = 0;
  std::int64_t r_done = 0;
  while (l != left.pieces().end() && r != right.pieces().end()) {
    const std::int64_t bytes = std::min(l->bytes - l_done, r->bytes - r_done);
    result.data.append(bytes, reduced(l->value.advanced(l_done), r->value.advanced(r_done)));
    l_done += bytes;
    r_done += bytes;
    if (l_done == l->bytes) {
      ++l;
      l_done = 0;
    }
    if (r_done == r->bytes) {
      ++r;
      r_done = 0;
    }
  }
  return result;
}

std::string text_of(const SymbolicValue& value, std::int64_t bytes, const RankSets& sets) {
  if (value.is_spoilt()) {
    return "nothing of use";
  }
  std::string range = bytes == 1 ? "byte " + std::to_string(value.origin)
                                 : "bytes " + std::to_string(value.origin) + "-" +
                                       std::to_string(value.origin + bytes - 1);
  return range + " of the input of " + sets.text(value.contributors);
}

void SymbolicMemory::write(const Span& span, std::int64_t base, const SymbolicData& data,
                           StepRef writer) {
  auto piece = data.pieces().begin();
  std::int64_t done = 0;  // of the piece
  for_each_run(span, [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const std::int64_t bytes = std::min(end - begin, piece->bytes - done);
      contents_.assign(base + begin, base + begin + bytes,
                       Content{piece->value.advanced(done), writer});
      begin += bytes;
      done += bytes;
      if (done == piece->bytes) {
        ++piece;
        done = 0;
      }
    }
  });
}

SymbolicMemory::Reading SymbolicMemory::read(const Span& span, std::int64_t base) const {
  Reading reading;
  for_each_run(span, [&](std::int64_t begin, std::int64_t end) {
    contents_.read(base + begin, base + end,
                   [&](std::int64_t from, std::int64_t to, const Content* content) {
                     if (content == nullptr && !reading.missing) {
                       reading.missing = from - base;
                     }
                     reading.data.append(
                         to - from, content == nullptr ? SymbolicValue::spoilt() : content->value);
                   });
  });
  return reading;
}

std::optional<std::string> objection_to(const Span& span, Bytes bytes, Bytes size) {
  if (span.total != bytes) {
    return "has a span of " + std::to_string(span.total.count()) + " bytes for messages of " +
           std::to_string(bytes.count());
  }
  if (bytes == Bytes(0)) {
    return std::nullopt;
  }
  if (span.run <= Bytes(0) || (span.run < bytes && span.stride < span.run)) {
    return "has a span whose runs of " + std::to_string(span.run.count()) +
           " bytes overlap at a stride of " + std::to_string(span.stride.count());
  }
  const std::int64_t full_runs = (bytes.count() - 1) / span.run.count();
  const Bytes end = span.offset + full_runs * span.stride + (bytes - full_runs * span.run);
  if (span.offset < Bytes(0) || end > size) {
    return "has a span over bytes " + std::to_string(span.offset.count()) + "-" +
           std::to_string(end.count() - 1) + " of a buffer of " + std::to_string(size.count());
  }
  return std::nullopt;
}

}  // namespace collsim::detail
