#include "algorithms/nccl/machine_text.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <system_error>

namespace collsim::nccl {

namespace {

template <class Value>
struct Word {
  std::string_view prefix;
  Value value;
};

template <class Value, std::size_t Size>
std::optional<Value> by_prefix(const std::array<Word<Value>, Size>& words, std::string_view text) {
  for (const Word<Value>& word : words) {
    if (text.starts_with(word.prefix)) {
      return word.value;
    }
  }
  return std::nullopt;
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_hex_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// The digits a text begins with, behind blanks and "0x" if they are there; what does not fit
/// saturates.
std::uint64_t digits_of(std::string_view digits) {
  while (!digits.empty() && is_blank(digits.front())) {
    digits.remove_prefix(1);
  }
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    digits.remove_prefix(2);
  }
  std::uint64_t number = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (result.ec == std::errc::result_out_of_range) {
    number = std::numeric_limits<std::uint64_t>::max();
  }
  return number;
}

}  // namespace

std::optional<PartKind> kind_of_class(std::string_view device_class) {
  static constexpr std::array<Word<PartKind>, 6> words{{
      {"0x060400", PartKind::Pci},
      {"0x080100", PartKind::Pci},  // the data function of a ConnectX-8
      {"0x068000", PartKind::NvSwitch},
      {"0x068001", PartKind::Cpu},  // NVLink bridge of a POWER CPU
      {"0x03", PartKind::Gpu},
      {"0x02", PartKind::Nic},
  }};
  return by_prefix(words, device_class);
}

std::optional<int> lane_speed(std::string_view link_speed) {
  static constexpr std::array<Word<int>, 11> words{{
      {"2.5 GT/s", 15},
      {"5 GT/s", 30},
      {"8 GT/s", 60},
      {"16 GT/s", 120},
      {"32 GT/s", 240},
      {"2.5 GT/s PCIe", 15},
      {"5.0 GT/s PCIe", 30},
      {"8.0 GT/s PCIe", 60},
      {"16.0 GT/s PCIe", 120},
      {"32.0 GT/s PCIe", 240},
      {"64.0 GT/s PCIe", 480},
  }};
  return by_prefix(words, link_speed);
}

std::uint64_t bus_number(std::string_view bus_id) {
  std::uint64_t number = 0;
  int digits = 0;
  for (const char c : bus_id) {
    if (c == ':' || c == '.') {
      continue;
    }
    if (!is_hex_digit(c) || digits == 16) {
      break;
    }
    std::uint64_t digit = 0;
    std::from_chars(&c, &c + 1, digit, 16);
    number = number * 16 + digit;
    ++digits;
  }
  return number;
}

std::int64_t c_number(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) {
    text.remove_prefix(1);
  }
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  int base = 10;
  if ((text.starts_with("0x") || text.starts_with("0X")) && text.size() > 2 &&
      is_hex_digit(text[2])) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.starts_with('0')) {
    base = 8;
  }
  if (text.starts_with('-')) {
    return 0;
  }
  std::int64_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (result.ec == std::errc::result_out_of_range) {
    number = std::numeric_limits<std::int64_t>::max();
  }
  return negative ? -number : number;
}

std::uint64_t asic_of_guid(std::string_view guid) { return digits_of(guid); }

std::uint64_t host_number(std::string_view host_hash) { return digits_of(host_hash); }

CpuArchitecture architecture_of(std::string_view name) {
  static constexpr std::array<Word<CpuArchitecture>, 3> words{{
      {"x86_64", CpuArchitecture::X86},
      {"arm64", CpuArchitecture::Arm},
      {"ppc64", CpuArchitecture::Power},
  }};
  return by_prefix(words, name).value_or(CpuArchitecture::Unknown);
}

CpuVendor vendor_of(std::string_view name) {
  static constexpr std::array<Word<CpuVendor>, 4> words{{
      {"GenuineIntel", CpuVendor::Intel},
      {"AuthenticAMD", CpuVendor::Amd},
      {"CentaurHauls", CpuVendor::Zhaoxin},
      {"  Shanghai  ", CpuVendor::Zhaoxin},
  }};
  return by_prefix(words, name).value_or(CpuVendor::Unknown);
}

CpuFacts cpu_facts(const MachineCpu& cpu) {
  CpuFacts facts{};
  facts.architecture = architecture_of(cpu.architecture);
  if (facts.architecture != CpuArchitecture::X86) {
    return facts;
  }
  facts.vendor = vendor_of(cpu.vendor.value_or(""));
  const int family = cpu.family_id.value_or(0);
  const int model = cpu.model_id.value_or(0);
  if (facts.vendor == CpuVendor::Intel) {
    facts.model = family == 6 && model >= 0xCF   ? CpuModel::EmeraldRapids
                  : family == 6 && model >= 0x8F ? CpuModel::SapphireRapids
                  : family == 6 && model >= 0x55 ? CpuModel::Skylake
                                                 : CpuModel::Broadwell;
  } else if (facts.vendor == CpuVendor::Zhaoxin && family == 7 && model == 0x5B) {
    facts.model = CpuModel::Yongfeng;
  }
  return facts;
}

}  // namespace collsim::nccl
