#pragma once
// How NCCL understands the texts of a topology file: PCI classes, link speeds, bus ids, numbers, CPU
// names. Most are matched by prefix, and what is not known has a fallback.
//
// Source: NCCL 2.28.9, src/graph/topo.cc (dictionaries), src/graph/xml.h, src/misc/utils.cc.

#include <cstdint>
#include <optional>
#include <string_view>

#include "algorithms/nccl/machine.hpp"
#include "algorithms/nccl/system.hpp"

namespace collsim::nccl {

/// What a PCI class says a device is; nothing if NCCL does not know the class and takes it for a switch.
[[nodiscard]] std::optional<PartKind> kind_of_class(std::string_view device_class);

/// Of one lane in units of 100 Mb/s; nothing if NCCL does not know the text and takes 60.
[[nodiscard]] std::optional<int> lane_speed(std::string_view link_speed);

/// "0000:1b:00.0" → 0x1b000: its hexadecimal digits up to the first other character (16 at most).
[[nodiscard]] std::uint64_t bus_number(std::string_view bus_id);

/// A number as C reads it: leading blanks, sign, "0x" for base 16 ("0" for 8); 0 if there is none.
/// What does not fit saturates.
[[nodiscard]] std::int64_t c_number(std::string_view text);

/// The number that tells the asics of network devices apart: hexadecimal digits, with or without "0x"; 0
/// if there are none.
[[nodiscard]] std::uint64_t asic_of_guid(std::string_view guid);

/// What tells hosts apart: hexadecimal digits, with or without "0x"; 0 if there are none.
[[nodiscard]] std::uint64_t host_number(std::string_view host_hash);

[[nodiscard]] CpuArchitecture architecture_of(std::string_view name);
[[nodiscard]] CpuVendor vendor_of(std::string_view name);
[[nodiscard]] CpuFacts cpu_facts(const MachineCpu& cpu);

}  // namespace collsim::nccl
