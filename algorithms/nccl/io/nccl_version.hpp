#pragma once
// NCCL's version numbers as text, and ranges of them.

#include <optional>
#include <string>
#include <string_view>

namespace collsim::nccl {

struct NcclVersion {
  int major{0};
  int minor{0};
  /// Absent ("2.28"): as the end of a range every patch, as a wanted version the last one.
  std::optional<int> patch{};

  bool operator==(const NcclVersion&) const = default;
};

/// "2.28.9" or "2.28"; a trailing package revision ("2.28.9-1") is dropped. Absent if it is neither.
[[nodiscard]] std::optional<NcclVersion> parse_version(std::string_view text);

[[nodiscard]] std::string to_text(const NcclVersion& version);

/// Versions from `first` to `last`, both included.
struct VersionRange {
  NcclVersion first{};
  NcclVersion last{};

  [[nodiscard]] bool contains(const NcclVersion& version) const;
};

/// "2.28", or "2.29.2-2.29.3".
[[nodiscard]] std::string to_text(const VersionRange& range);

}  // namespace collsim::nccl
