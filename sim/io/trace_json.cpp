#include "sim/io/trace_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>
#include <string_view>

namespace collsim {

namespace {

std::int64_t nanoseconds(Time time) { return time.time_since_epoch().count() / 1000; }

/// Microseconds with three decimals.
std::string microseconds(std::int64_t ns) {
  const std::string fraction = std::to_string(ns % 1000);
  return std::to_string(ns / 1000) + "." + std::string(3 - fraction.size(), '0') + fraction;
}

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string number(std::string_view key, std::int64_t value) {
  return "\"" + std::string(key) + "\":" + std::to_string(value);
}

/// A thread of a process.
struct Track {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  [[nodiscard]] std::string text() const { return number("pid", pid) + "," + number("tid", tid); }
};

/// The rows in which intervals lie so that none overlaps another: each takes the first row that is
/// free at its beginning. Requires: begins in ascending order.
class Rows {
 public:
  std::uint32_t place(Time begin, Time end) {
    for (std::size_t row = 0; row < free_from_.size(); ++row) {
      if (free_from_[row] > begin) {
        continue;
      }
      free_from_[row] = end;
      return static_cast<std::uint32_t>(row);
    }
    free_from_.push_back(end);
    return static_cast<std::uint32_t>(free_from_.size() - 1);
  }
  [[nodiscard]] std::uint32_t count() const {
    return static_cast<std::uint32_t>(free_from_.size());
  }

 private:
  std::vector<Time> free_from_;
};

}  // namespace

void TraceJson::on_step(const StepRecord& record) {
  steps_.push_back(record);
  const auto unfinished = unfinished_.find({record.operation, record.gpu, record.lane});
  if (unfinished == unfinished_.end()) {
    return;
  }
  for (const std::size_t transfer : unfinished->second) {
    transfers_[transfer].receiver_reached = record.reached;
    transfers_[transfer].receiver_end = record.end;
  }
  unfinished_.erase(unfinished);
}

void TraceJson::on_transfer(const TransferRecord& record) {
  const auto [route, is_new] = route_of_.try_emplace({record.from_gpu, record.to_gpu},
                                                     static_cast<std::uint32_t>(routes_.size()));
  if (is_new) {
    std::vector<LinkId> links;
    links.reserve(record.route->hops.size());
    for (const RouteHop& hop : record.route->hops) {
      links.push_back(hop.link);
    }
    routes_.push_back(std::move(links));
  }
  unfinished_[{record.operation, record.to_gpu, record.to_lane}].push_back(transfers_.size());
  Transfer transfer;
  transfer.record = record;
  transfer.record.route = nullptr;
  transfer.route = route->second;
  transfer.receiver_reached = record.received;
  transfer.receiver_end = record.received;
  transfers_.push_back(transfer);
}

/// Lays out tracks, then writes names and events.
class TraceWriter {
 public:
  TraceWriter(const TraceJson& trace, std::ostream& out) : trace_(&trace), out_(&out) {}

  void write() {
    lay_out_gpus();
    lay_out_lanes();
    lay_out_links();
    *out_ << R"({"displayTimeUnit":"ns","traceEvents":[)";
    write_names();
    write_events();
    *out_ << "\n]}\n";
  }

 private:
  enum class Kind : std::uint8_t { Step, Wait, Link, Send, Receive };
  struct Event {
    std::int64_t time = 0;  ///< ns
    Kind kind = Kind::Step;
    std::size_t subject = 0;
    Track track;  ///< of a transfer on a link
  };
  struct Gpu {
    std::uint32_t pid = 0;
    Rank rank;
    bool one_rank = true;     ///< the same in all operations
    std::uint32_t lanes = 0;  ///< threads that an operation needs
    std::map<std::uint32_t, std::string> threads;
  };
  struct Interval {
    Time begin = Time::max();
    Time end;
    std::uint32_t row = 0;
  };
  using OperationOnGpu = std::pair<DeviceId, OperationId>;

  // pid = rank + 1, where another communicator has not taken it.
  void lay_out_gpus() {
    std::set<std::pair<OperationId, Rank>> seen;
    std::vector<std::pair<std::pair<OperationId, Rank>, DeviceId>> ranks;
    for (const StepRecord& step : trace_->steps_) {
      if (seen.insert({step.operation, step.rank}).second) {
        ranks.push_back({{step.operation, step.rank}, step.gpu});
      }
      Gpu& gpu = gpus_[step.gpu];
      gpu.lanes = std::max(gpu.lanes, step.lane + 1);
    }
    std::sort(ranks.begin(), ranks.end());
    std::set<std::uint32_t> taken;
    for (const auto& [operation_rank, device] : ranks) {
      Gpu& gpu = gpus_[device];
      if (gpu.pid == 0) {
        gpu.rank = operation_rank.second;
        gpu.pid = gpu.rank.value() + 1;
        while (!taken.insert(gpu.pid).second) {
          ++gpu.pid;
        }
        links_pid_ = std::max(links_pid_, gpu.pid + 1);
      }
      gpu.one_rank = gpu.one_rank && gpu.rank == operation_rank.second;
    }
  }

  void lay_out_lanes() {
    for (const StepRecord& step : trace_->steps_) {
      Interval& interval = operations_[{step.gpu, step.operation}];
      interval.begin = std::min(interval.begin, step.reached);
      interval.end = std::max(interval.end, step.end);
    }
    std::vector<std::pair<OperationOnGpu, Interval*>> in_time;
    in_time.reserve(operations_.size());
    for (auto& [key, interval] : operations_) {
      in_time.emplace_back(key, &interval);
    }
    std::stable_sort(in_time.begin(), in_time.end(), [](const auto& a, const auto& b) {
      return a.second->begin < b.second->begin;
    });
    std::map<DeviceId, Rows> rows;
    for (auto& [key, interval] : in_time) {
      interval->row = rows[key.first].place(interval->begin, interval->end);
    }
    for (const StepRecord& step : trace_->steps_) {
      const Track track = track_of(step.operation, step.gpu, step.lane);
      const std::uint32_t row = operations_.at({step.gpu, step.operation}).row;
      std::string name =
          "lane " + std::to_string(step.lane) + " (channel " + std::to_string(step.channel) + ")";
      if (row != 0) {
        name += " #" + std::to_string(row + 1);
      }
      gpus_[step.gpu].threads.try_emplace(track.tid, std::move(name));
    }
  }

  [[nodiscard]] Track track_of(OperationId operation, DeviceId device, std::uint32_t lane) const {
    const Gpu& gpu = gpus_.at(device);
    return {gpu.pid, operations_.at({device, operation}).row * gpu.lanes + lane + 1};
  }

  void lay_out_links() {
    std::vector<std::size_t> in_time(trace_->transfers_.size());
    for (std::size_t i = 0; i < in_time.size(); ++i) {
      in_time[i] = i;
    }
    std::stable_sort(in_time.begin(), in_time.end(), [this](std::size_t a, std::size_t b) {
      return trace_->transfers_[a].record.start < trace_->transfers_[b].record.start;
    });
    struct Use {
      LinkId link;
      std::uint32_t row = 0;
      std::size_t transfer = 0;
    };
    std::map<LinkId, Rows> rows;
    std::vector<Use> uses;
    for (const std::size_t i : in_time) {
      const TraceJson::Transfer& transfer = trace_->transfers_[i];
      if (transfer.record.left == transfer.record.start) {
        continue;
      }
      for (const LinkId link : trace_->routes_[transfer.route]) {
        uses.push_back({link, rows[link].place(transfer.record.start, transfer.record.left), i});
      }
    }
    std::map<LinkId, std::uint32_t> first_thread;
    for (const auto& [link, rows_of_link] : rows) {
      first_thread[link] = static_cast<std::uint32_t>(link_threads_.size() + 1);
      for (std::uint32_t row = 0; row < rows_of_link.count(); ++row) {
        link_threads_.push_back(trace_->graph_->name(link) +
                                (row == 0 ? "" : " #" + std::to_string(row + 1)));
      }
    }
    for (const Use& use : uses) {
      const Time start = trace_->transfers_[use.transfer].record.start;
      events_.push_back({nanoseconds(start), Kind::Link, use.transfer,
                         Track{links_pid_, first_thread.at(use.link) + use.row}});
    }
  }

  void write_names() {
    for (const auto& [device, gpu] : gpus_) {
      std::string name = trace_->graph_->name(device);
      if (gpu.one_rank) {
        name.insert(0, "rank " + std::to_string(gpu.rank.value()) + " (").push_back(')');
      }
      write_process(gpu.pid, name);
      for (const auto& [tid, thread] : gpu.threads) {
        write_thread({gpu.pid, tid}, thread);
      }
    }
    if (link_threads_.empty()) {
      return;
    }
    write_process(links_pid_, "links");
    for (std::uint32_t thread = 0; thread < link_threads_.size(); ++thread) {
      write_thread({links_pid_, thread + 1}, link_threads_[thread]);
    }
  }

  void write_process(std::uint32_t pid, const std::string& name) {
    write_metadata({pid, 1}, "process_name", "\"name\":" + json_string(name));
    write_metadata({pid, 1}, "process_sort_index", number("sort_index", pid));
  }
  void write_thread(Track track, const std::string& name) {
    write_metadata(track, "thread_name", "\"name\":" + json_string(name));
    write_metadata(track, "thread_sort_index", number("sort_index", track.tid));
  }
  void write_metadata(Track track, std::string_view what, const std::string& arguments) {
    write_line(R"({"ph":"M","name":")" + std::string(what) + "\"," + track.text() + ",\"args\":{" +
               arguments + "}}");
  }

  // Slices stand before the arrows of the same time, so that these find what they belong to.
  void write_events() {
    const auto& steps = trace_->steps_;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::int64_t reached = nanoseconds(steps[i].reached);
      events_.push_back({reached, Kind::Step, i, {}});
      if (nanoseconds(steps[i].ready) > reached) {
        events_.push_back({reached, Kind::Wait, i, {}});
      }
    }
    const auto& transfers = trace_->transfers_;
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      const std::int64_t start = nanoseconds(transfers[i].record.start);
      const std::int64_t end = nanoseconds(transfers[i].receiver_end);
      const bool both_have_length = nanoseconds(transfers[i].record.left) > start &&
                                    end > nanoseconds(transfers[i].receiver_reached);
      if (!both_have_length) {
        continue;
      }
      const std::int64_t received = nanoseconds(transfers[i].record.received);
      events_.push_back({start, Kind::Send, i, {}});
      events_.push_back({std::min(received, end - 1), Kind::Receive, i, {}});
    }
    std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
      return std::pair(a.time, arrow(a.kind)) < std::pair(b.time, arrow(b.kind));
    });
    for (const Event& event : events_) {
      write_event(event);
    }
  }

  [[nodiscard]] static bool arrow(Kind kind) { return kind == Kind::Send || kind == Kind::Receive; }

  void write_event(const Event& event) {
    switch (event.kind) {
      case Kind::Step:
      case Kind::Wait:
        write_step(event, trace_->steps_[event.subject]);
        break;
      case Kind::Link:
        write_transfer(event, trace_->transfers_[event.subject].record);
        break;
      case Kind::Send:
      case Kind::Receive:
        write_arrow(event, trace_->transfers_[event.subject].record);
        break;
    }
  }

  void write_step(const Event& event, const StepRecord& step) {
    const Track track = track_of(step.operation, step.gpu, step.lane);
    const bool waits = event.kind == Kind::Wait;
    const std::string name = waits ? "wait" : std::string(name_of(step.primitive));
    std::string arguments;
    if (!waits) {
      arguments = number("operation", step.operation.value()) + "," +
                  number("step", static_cast<std::int64_t>(step.index)) + "," +
                  number("bytes", step.bytes.count());
    }
    write_slice(track, name, event.time, nanoseconds(waits ? step.ready : step.end), arguments);
  }

  void write_transfer(const Event& event, const TransferRecord& transfer) {
    const std::string name = "rank " + std::to_string(transfer.from.value()) + " to " +
                             std::to_string(transfer.to.value());
    write_slice(event.track, name, event.time, nanoseconds(transfer.left),
                number("operation", transfer.operation.value()) + "," +
                    number("channel", transfer.channel) + "," +
                    number("bytes", transfer.bytes.count()));
  }

  void write_slice(Track track, const std::string& name, std::int64_t begin, std::int64_t end,
                   const std::string& arguments) {
    write_line(R"({"ph":"X","name":)" + json_string(name) + "," + track.text() +
               ",\"ts\":" + microseconds(begin) + ",\"dur\":" + microseconds(end - begin) +
               ",\"args\":{" + arguments + "}}");
  }

  void write_arrow(const Event& event, const TransferRecord& transfer) {
    const bool begins = event.kind == Kind::Send;
    const Track track = begins ? track_of(transfer.operation, transfer.from_gpu, transfer.from_lane)
                               : track_of(transfer.operation, transfer.to_gpu, transfer.to_lane);
    write_line(R"({"ph":")" + std::string(begins ? "s" : "f") +
               R"(","cat":"message","name":"message",)" +
               number("id", static_cast<std::int64_t>(event.subject) + 1) + "," + track.text() +
               ",\"ts\":" + microseconds(event.time) + (begins ? "}" : R"(,"bp":"e"})"));
  }

  void write_line(const std::string& line) {
    *out_ << (first_ ? "\n" : ",\n") << line;
    first_ = false;
  }

  const TraceJson* trace_;
  std::ostream* out_;
  std::map<DeviceId, Gpu> gpus_;
  std::map<OperationOnGpu, Interval> operations_;
  std::uint32_t links_pid_ = 1;
  std::vector<std::string> link_threads_;  ///< names; tid = position + 1
  std::vector<Event> events_;
  bool first_ = true;
};

void TraceJson::write(std::ostream& out) const { TraceWriter(*this, out).write(); }

}  // namespace collsim
