// What tools/gpu_check.sh builds and runs on a machine that has GPUs, CUDA and a compiler, and nothing else.

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include "kernels/cuda_error.hpp"
#include "tools/gpu_check/stages.hpp"
#include "validate/execution/execution_error.hpp"

namespace collsim {

namespace {

struct Options {
  std::string output = ".";
  std::string only;  ///< empty: all stages
  std::uint32_t ranks = 8;
  std::uint32_t seconds = 420;  ///< for all stages together
};

constexpr std::string_view usage =
    "usage: gpu_check [--output-dir DIR] [--only check|smallest|processes|times|nccl|figures] "
    "[--ranks N] "
    "[--seconds N]\n";

std::uint32_t number_of(const std::string& option, const std::string& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number == 0) {
    throw InputError("expected a number of 1 or more, got " + in_quotes(text), option);
  }
  return number;
}

Options parse(const std::vector<std::string>& arguments) {
  Options options;
  const std::vector<std::string> stages{"check", "smallest", "processes",
                                        "times", "nccl",     "figures"};
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const std::string& option = arguments[i];
    if (i + 1 == arguments.size()) {
      throw InputError("needs a value", option);
    }
    const std::string& value = arguments[i + 1];
    if (option == "--output-dir") {
      options.output = value;
    } else if (option == "--only") {
      options.only = value;
      if (std::find(stages.begin(), stages.end(), value) == stages.end()) {
        throw InputError("expected " + one_of(stages) + ", got " + in_quotes(value), option);
      }
    } else if (option == "--ranks") {
      options.ranks = number_of(option, value);
    } else if (option == "--seconds") {
      options.seconds = number_of(option, value);
    } else {
      throw InputError("no such option", option);
    }
  }
  return options;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 16> text{};
  gmtime_r(&now, &parts);
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts)};
}

void print(std::string_view name, const StageOutcome& stage) {
  std::cout << "== " << name << ": " << stage.done << " done";
  if (stage.left_out > 0) {
    std::cout << ", " << stage.left_out << " left out for want of time";
  }
  std::cout << ", " << stage.failures.size() << " failed\n";
  constexpr std::size_t most_shown = 20;
  for (std::size_t i = 0; i < stage.failures.size() && i < most_shown; ++i) {
    std::cout << "failed: " << stage.failures[i] << '\n';
  }
  for (std::size_t i = 0; i < stage.notes.size() && i < most_shown; ++i) {
    std::cout << "not run: " << stage.notes[i] << '\n';
  }
  std::cout << std::flush;
}

class Check {
 public:
  explicit Check(Options options)
      : options_(std::move(options)),
        facts_(require_gpus()),
        deadline_(std::chrono::seconds(options_.seconds)) {
    utsname system{};
    uname(&system);
    hardware_.gpu = facts_.gpus.front().name;
    hardware_.gpus_per_node = static_cast<std::uint32_t>(facts_.gpus.size());
    common_.software.cuda = facts_.runtime;
    common_.software.kernel = std::string(system.sysname) + " " + system.release;
    common_.software.compiler = "g++ " __VERSION__;
    common_.software.launch = "single process";
    common_.source = "collsim gpu_check";
    common_.date = today();
    machine_ = system.nodename;
  }

  int run() {
    for (const GpuFacts& gpu : facts_.gpus) {
      std::cout << gpu.name << " at " << gpu.bus << ", " << gpu.multiprocessors
                << " multiprocessors, " << (gpu.memory >> 20U) << " MiB\n";
    }
    std::cout << "CUDA " << facts_.runtime << ", driver for " << facts_.driver << '\n'
              << std::flush;
    if (options_.only == "smallest") {
      report("smallest programs", check_programs(2, true, deadline_));
    }
    if (wants("check")) {
      report("data of all programs", check_programs(options_.ranks, false, deadline_));
    }
    if (wants("figures")) {
      std::vector<GpuFigure> figures;
      report("micro-benchmarks", measure_figures(facts_.gpus.size(), deadline_, figures));
      write("gpu_figures.json", plain_figures(hardware_, facts_.runtime, common_.date, figures));
    }
    if (wants("nccl")) {
      std::vector<MeasuredRun> runs;
      report("NCCL", time_nccl(options_.ranks, common_, deadline_, runs));
      write_runs("nccl.json", runs);
    }
    if (wants("times")) {
      std::vector<MeasuredRun> runs;
      report("times of all programs", time_programs(options_.ranks, common_, deadline_, runs));
      write_runs("cuda.json", runs);
    }
    std::cout << (failed_ ? "FAILED" : "passed") << '\n' << std::flush;
    return failed_ ? 1 : 0;
  }

 private:
  [[nodiscard]] bool wants(std::string_view stage) const {
    return options_.only.empty() || options_.only == stage;
  }

  void report(std::string_view name, const StageOutcome& stage) {
    print(name, stage);
    failed_ = failed_ || !stage.failures.empty();
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream file(options_.output + "/" + name);
    file << text;
    file.close();
    if (!file) {
      throw InputError("cannot be written: " + in_quotes(options_.output + "/" + name),
                       "--output-dir");
    }
  }

  void write_runs(const std::string& name, std::vector<MeasuredRun>& runs) const {
    Measurements measurements;
    measurements.machine = machine_;
    measurements.hardware = hardware_;
    measurements.runs = std::move(runs);
    write(name, plain_measurements(measurements));
  }

  Options options_;
  CudaFacts facts_;
  StageLimit deadline_;
  MeasuredHardware hardware_;
  MeasuredRun common_;
  std::string machine_;
  bool failed_ = false;
};

int check(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments.front() == "--help") {
    std::cout << usage;
    return 0;
  }
  try {
    const Options options = parse(arguments);
    if (options.only == "processes") {
      const StageOutcome stage = check_processes(options.ranks);
      print("ranks as processes", stage);
      return stage.failures.empty() ? 0 : 1;
    }
    return Check(options).run();
  } catch (const InputError& error) {
    std::cerr << error.render() << '\n';
    return 2;
  } catch (const Error& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  } catch (const std::exception& error) {
    std::cerr << "internal error: " << error.what() << '\n';
    return 70;
  }
}

}  // namespace

}  // namespace collsim

// NOLINTNEXTLINE(bugprone-exception-escape): out of memory before it has begun
int main(int count, char** arguments) { return collsim::check({arguments + 1, arguments + count}); }
