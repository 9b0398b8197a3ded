#include "tools/sweep_point.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "study/job_keys.hpp"
#include "study/point_metrics.hpp"
#include "tools/exit_code.hpp"
#include "tools/row_json.hpp"
#include "tools/usage_error.hpp"

namespace collsim {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view positional = "collective";
constexpr std::string_view out_of_place = "out_of_place";

void add_words(const Assignment& one, std::vector<std::string>& words) {
  const std::string& key = one.key;
  if (key == positional) {
    words.insert(words.begin(), one.value);
  } else if (key.starts_with(setting_prefix)) {
    words.push_back("--set=" + key.substr(setting_prefix.size()) + "=" + one.value);
  } else if (key.starts_with(variable_prefix)) {
    words.push_back("--env=" + key.substr(variable_prefix.size()) + "=" + one.value);
  } else if (key == out_of_place) {
    if (one.value == "yes") {
      words.push_back(option_name(key));
    }
  } else {
    words.push_back(option_name(key) + "=" + one.value);
  }
}

SingleRun single_run_of(std::vector<std::string> words) {
  CLI::App app;
  SingleRun run;
  add_single_run_options(app, run);
  const std::vector<std::string> as_written = words;
  std::ranges::reverse(words);
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    throw usage_error(app, error, as_written);
  }
  return run;
}

Json metrics_json(const std::vector<MetricValue>& metrics) {
  Json json = Json::object();
  for (const MetricValue& metric : metrics) {
    json[metric.name] = metric.value ? Json(*metric.value) : Json(nullptr);
  }
  return json;
}

}  // namespace

std::string option_name(std::string key) {
  std::ranges::replace(key, '_', '-');
  return "--" + key;
}

std::vector<std::string> words_of_point(const Experiment& experiment, const SweepPoint& point) {
  std::vector<std::string> words;
  for (const Assignment& one : assignments_at(experiment, point)) {
    add_words(one, words);
  }
  return words;
}

bool tells_failure(const std::string& line) {
  // What a text holds has its quotes escaped; the key of an outcome is the first one behind the point's.
  return line.find("\"failure\":") < line.find("\"row\":");
}

const Machine& PointRunner::machine(const ClusterOptions& options) {
  std::string key = options.cluster;
  for (const std::string& setting : options.settings) {
    key += '\n' + setting;
  }
  if (!last_ || key != last_key_) {
    last_.reset();
    OutputOptions silent;
    silent.quiet = true;
    last_.emplace(load_machine(options, silent));
    last_key_ = key;
  }
  return *last_;
}

SingleRun PointRunner::single_run(std::size_t index) const {
  SingleRun single =
      single_run_of(words_of_point(experiment_->experiment, experiment_->points[index]));
  single.cluster.config_directory = config_directory_;
  return single;
}

std::optional<InputError> PointRunner::fault(std::size_t index) {
  try {
    const SingleRun single = single_run(index);
    OutputOptions silent;
    silent.quiet = true;
    check_run(single, machine(single.cluster), silent);
    return std::nullopt;
  } catch (const InputError& error) {
    return error;
  }
}

std::string PointRunner::run(std::size_t index) {
  Json line{{"point", index}};
  std::ostringstream message;
  const int code = exit_code_of(
      [&] {
        const SingleRun single = single_run(index);
        OutputOptions silent;
        silent.quiet = true;
        const Machine& machine = this->machine(single.cluster);
        const ResultRow row = simulate_run(single, machine, silent);
        line["row"] = row_json(machine.cluster, row, {});
        line["metrics"] =
            metrics_json(metrics_of(machine.cluster, row.job, row.nodes,
                                    row.nccl_channels.value_or(row.result.channels), row.result));
        return Exit::Done;
      },
      message);
  if (code != static_cast<int>(Exit::Done)) {
    std::string text = message.str();
    while (text.ends_with('\n')) {
      text.pop_back();
    }
    line = Json{{"point", index}, {"failure", {{"exit_code", code}, {"message", text}}}};
  }
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace collsim
