#include "tools/tcp_ranks.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <thread>

#include "tools/exit_code.hpp"
#include "validate/execution/execution_error.hpp"

namespace collsim {

namespace {

struct Launcher {
  const char* rank;
  const char* ranks;
};
/// Open MPI, MPICH and others with PMI, Slurm.
constexpr std::array launchers{Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                               Launcher{"PMI_RANK", "PMI_SIZE"},
                               Launcher{"SLURM_PROCID", "SLURM_NTASKS"}};

std::optional<std::uint32_t> number_in(const std::string& text) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

/// The number of the first launcher whose variables are both set.
std::optional<std::uint32_t> from_launcher(const char* Launcher::*variable) {
  for (const Launcher& launcher : launchers) {
    const char* const rank = std::getenv(launcher.rank);
    const char* const ranks = std::getenv(launcher.ranks);
    if (rank != nullptr && ranks != nullptr) {
      const char* const value = variable == &Launcher::rank ? rank : ranks;
      return number_in(value);
    }
  }
  return std::nullopt;
}

constexpr const char* no_launcher_hint =
    "--rank and --world-size, mpirun or srun, or --spawn N for all ranks on this machine";

Endpoint master_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const auto port = colon == std::string::npos ? std::nullopt : number_in(text.substr(colon + 1));
  constexpr std::uint32_t highest = 65'535;
  if (!port || *port == 0 || *port > highest || colon == 0) {
    throw InputError("expected HOST:PORT, where rank 0 listens; found " + in_quotes(text),
                     "--master");
  }
  return {text.substr(0, colon), static_cast<std::uint16_t>(*port)};
}

std::string secret_of(const std::string& file) {
  std::string secret;
  if (!file.empty()) {
    constexpr std::size_t largest_file = std::size_t{64} << 10U;
    const std::string text = contents_of(file, "--secret-file", largest_file);
    secret = text.substr(0, text.find('\n'));
  } else if (const char* const variable = std::getenv("COLLSIM_SECRET")) {
    secret = variable;
  }
  if (secret.empty() || secret.size() > longest_secret) {
    throw InputError(secret.empty()
                         ? "ranks need a secret that all of them know and nobody else"
                         : "the secret has more than " + std::to_string(longest_secret) + " bytes",
                     "--secret-file", "a file with one line, or the variable COLLSIM_SECRET");
  }
  return secret;
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host.starts_with("127.");
}

std::string random_secret() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw ExecutionError("no random numbers for a secret: " + system_error_text(errno));
  }
  std::string text;
  for (const unsigned char byte : bytes) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

/// The child processes of a spawn; ends them where nobody has waited for them.
class Children {
 public:
  ~Children() { kill_all(); }
  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  void add(pid_t pid, std::uint32_t rank) { ranks_[pid] = rank; }

  struct Ending {
    std::uint32_t rank = 0;
    int status = 0;
  };
  /// The next one that ends; absent: none has.
  std::optional<Ending> look() {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    const auto found = ranks_.find(pid);
    if (pid <= 0 || found == ranks_.end()) {
      return std::nullopt;
    }
    const Ending ending{found->second, status};
    ranks_.erase(found);
    return ending;
  }
  [[nodiscard]] bool any() const { return !ranks_.empty(); }
  void kill_all() {
    for (const auto& [pid, rank] : ranks_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    ranks_.clear();
  }

 private:
  std::map<pid_t, std::uint32_t> ranks_;
};

[[noreturn]] void be_rank(const TcpPlace& place, pid_t parent,
                          const std::function<Exit(const TcpPlace&)>& work) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): the system's call is declared so
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {  // it went before that was in force
    _exit(static_cast<int>(Exit::Interrupted));
  }
  const int code = exit_code_of([&] { return work(place); }, std::cerr);
  std::cout.flush();
  std::cerr.flush();
  _exit(code);
}

Exit ending_of(const Children::Ending& ending) {
  if (WIFSIGNALED(ending.status)) {
    throw ExecutionError(
        fmt::format("rank {} was killed by signal {}", ending.rank, WTERMSIG(ending.status)));
  }
  return static_cast<Exit>(WEXITSTATUS(ending.status));
}

}  // namespace

std::uint32_t tcp_ranks(const TcpOptions& options) {
  if (options.spawn) {
    return *options.spawn;
  }
  const auto ranks = options.world_size ? options.world_size : from_launcher(&Launcher::ranks);
  if (!ranks || *ranks == 0) {
    throw InputError("how many ranks there are is not known", "--world-size", no_launcher_hint);
  }
  return *ranks;
}

TcpPlace tcp_place(const MeasureCommand& command) {
  const TcpOptions& options = command.tcp;
  TcpPlace place;
  place.ranks = tcp_ranks(options);
  const auto rank = options.rank ? options.rank : from_launcher(&Launcher::rank);
  if (!rank) {
    throw InputError("which rank this process is, is not known", "--rank", no_launcher_hint);
  }
  if (*rank >= place.ranks) {
    throw InputError(fmt::format("rank {} is none of 0 to {}", *rank, place.ranks - 1), "--rank");
  }
  place.rank = *rank;
  place.master = master_of(options.master);
  place.bind = options.bind;
  if (!is_loopback(place.master.host) && is_loopback(place.bind)) {
    throw InputError("other machines cannot reach " + place.bind, "--bind",
                     "--bind ADDRESS, the address of this machine on the network of --master");
  }
  place.secret = secret_of(options.secret_file);
  place.patience = std::chrono::seconds(command.timeout);
  return place;
}

Exit spawn_ranks(std::uint32_t ranks, std::chrono::milliseconds patience,
                 const std::function<Exit(const TcpPlace&)>& work) {
  Socket door = listen_on({"127.0.0.1", 0});
  TcpPlace place;
  place.ranks = ranks;
  place.master = local_endpoint(door);
  place.secret = random_secret();
  place.patience = patience;
  std::cout.flush();
  Children children;
  const pid_t parent = getpid();
  for (place.rank = 0; place.rank < ranks; ++place.rank) {
    const pid_t child = fork();
    if (child < 0) {
      throw ExecutionError("cannot start a process: " + system_error_text(errno));
    }
    if (child == 0) {
      place.listener = place.rank == 0 ? &door : nullptr;
      if (place.rank != 0) {
        door.close();
      }
      be_rank(place, parent, work);
    }
    children.add(child, place.rank);
  }
  door.close();

  constexpr std::chrono::milliseconds look_again{5};
  constexpr std::chrono::seconds grace{5};
  std::optional<Children::Ending> failed;
  auto limit = std::chrono::steady_clock::time_point::max();
  while (children.any() && std::chrono::steady_clock::now() < limit) {
    const auto ending = children.look();
    if (!ending) {
      std::this_thread::sleep_for(look_again);
    } else if (ending->status != 0 && !failed) {
      failed = ending;
      limit = std::chrono::steady_clock::now() + grace;
    }
  }
  children.kill_all();
  return failed ? ending_of(*failed) : Exit::Done;
}

}  // namespace collsim
