#include "tools/sweep_progress.hpp"

#include <fmt/format.h>

#include <string>

#include "tools/format_text.hpp"
#include "tools/text_table.hpp"

namespace collsim {

SweepProgress::SweepProgress(const OutputOptions& output, std::size_t all, std::size_t before)
    : line_(output), all_(all), before_(before), start_(std::chrono::steady_clock::now()) {
  show();
}

void SweepProgress::add(bool failed) {
  ++done_;
  failed_ += failed ? 1 : 0;
  show();
}

void SweepProgress::show() {
  constexpr std::size_t bar_width = 20;
  const double part = static_cast<double>(before_ + done_) / static_cast<double>(all_);
  std::string text = fmt::format("{:<{}} {} of {} points", bar(part, bar_width), bar_width,
                                 grouped(before_ + done_), grouped(all_));
  if (failed_ > 0) {
    text += fmt::format(", {} failed", grouped(failed_));
  }
  if (done_ > 0) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
    const double each = took.count() / static_cast<double>(done_);
    const auto left = static_cast<long>(each * static_cast<double>(all_ - before_ - done_));
    text += fmt::format(", {}:{:02} left", left / 60, left % 60);
  }
  line_.show(text);
}

}  // namespace collsim
