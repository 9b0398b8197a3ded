#include "algorithms/nccl/io/log_reader.hpp"

#include <cstddef>
#include <fstream>
#include <utility>

#include "algorithms/nccl/io/log_lines.hpp"
#include "algorithms/nccl/io/log_merge.hpp"
#include "algorithms/nccl/io/log_ranks.hpp"
#include "topology/error.hpp"
#include "topology/io/source.hpp"

namespace collsim::nccl {

namespace {

constexpr std::size_t piece = std::size_t{1} << 20;

class LogReader {
 public:
  LogReader()
      : lines_([this](const LogWriter& writer, std::string_view text) {
          ranks_.take(writer, text);
        }) {}

  void feed(std::string_view bytes) { lines_.feed(bytes); }

  /// Throws: InputError if there was no line of NCCL.
  NcclLog finish(const std::string& file) {
    lines_.finish();
    if (lines_.lines() == 0) {
      throw InputError("this is no log of NCCL: no line has \"NCCL INFO\"", {},
                       "run with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH,TUNING",
                       SourceLocation{file, 0, 0, ""});
    }
    NcclLog log = merge_ranks(ranks_);
    log.lines = lines_.lines();
    log.garbled = lines_.cut() + ranks_.garbled();
    log.truncated = lines_.ends_open();
    return log;
  }

 private:
  LogRanks ranks_{};
  LogLines lines_;
};

}  // namespace

NcclLog parse_nccl_log(std::string_view text, const std::string& file) {
  LogReader reader;
  reader.feed(text);
  return reader.finish(file);
}

NcclLog load_nccl_log(const std::string& path) {
  std::ifstream stream = open_file(path, Endless::Opened);
  LogReader reader;
  std::string bytes(piece, '\0');
  // A device could give data without end.
  constexpr std::size_t most_pieces = (std::size_t{1} << 30U) / piece;
  for (std::size_t pieces = 0; stream; ++pieces) {
    if (pieces == most_pieces) {
      throw unreadable(path, "it is larger than 1 GiB");
    }
    stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    reader.feed(std::string_view(bytes).substr(0, static_cast<std::size_t>(stream.gcount())));
  }
  if (stream.bad()) {
    throw unreadable(path, "read error");
  }
  return reader.finish(path);
}

}  // namespace collsim::nccl
