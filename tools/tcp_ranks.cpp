#include "tools/tcp_ranks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "tools/exit_code.hpp"
#include "tools/format_text.hpp"
#include "tools/in_process.hpp"
#include "tools/last_words.hpp"
#include "tools/launchers.hpp"
#include "tools/whole_number.hpp"
#include "validate/execution/execution_error.hpp"

namespace collsim {

namespace {

constexpr const char* no_launcher_hint =
    "--rank and --world-size, mpirun or srun, or --spawn N for all ranks on this machine";

Endpoint master_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const auto port = colon == std::string::npos
                        ? std::nullopt
                        : whole_number<std::uint32_t>(text.substr(colon + 1));
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

std::string own_addresses_hint() {
  return fmt::format("this machine has {}", fmt::join(own_addresses(), ", "));
}

/// Of an address or a name of this machine, the address.
std::string own_address(const std::string& text) {
  try {
    return local_endpoint(listen_on({text, 0})).host;
  } catch (const ExecutionError& error) {
    throw InputError(error.what(), "--bind",
                     own_addresses_hint() + "; 0.0.0.0 stands for all of them");
  }
}

/// Rank 0 listens there; the others must at least know the host.
void require_master(const Endpoint& master, std::uint32_t rank) {
  try {
    require_host(master.host);
    if (rank == 0) {
      static_cast<void>(listen_on({master.host, 0}));
    }
  } catch (const ExecutionError& error) {
    throw InputError(error.what(), "--master",
                     rank == 0 ? "rank 0 listens there; " + own_addresses_hint() : "");
  }
}

/// A socket for every other rank.
void require_descriptors(std::uint32_t ranks, const std::string& option) {
  constexpr rlim_t besides = 128;  // what a process has open anyway, and strangers at the door
  const rlim_t needed = ranks + besides;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max < needed) {
    throw InputError(fmt::format("each of {} needs {} open files, and {} are allowed",
                                 counted(ranks, "rank"), grouped(needed), grouped(limit.rlim_max)),
                     option, "fewer ranks, or a higher limit (ulimit -n)");
  }
  if (limit.rlim_cur < needed) {
    limit.rlim_cur = needed;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
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

/// An interrupt of the terminal reaches all; who started them says so, and they end with it.
void leave_interrupts_to_parent() {
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
}

/// Returns which were blocked before.
sigset_t block_interrupts() {
  sigset_t interrupts;
  sigset_t before;
  sigemptyset(&interrupts);
  for (const int signal : {SIGINT, SIGHUP, SIGTERM}) {
    sigaddset(&interrupts, signal);
  }
  sigprocmask(SIG_BLOCK, &interrupts, &before);
  return before;
}

[[noreturn]] void be_rank(const TcpPlace& place, pid_t parent, const LastWords& last_words,
                          const std::function<Exit(const TcpPlace&)>& work) {
  end_with(parent);
  std::ostringstream text;
  const int code = exit_code_of([&] { return work(place); }, text);
  std::cout.flush();
  if (!text.str().empty()) {
    last_words.say(code, text.str());
  }
  _exit(code);
}

/// How all ended, of whom some failed.
Exit ending_of(const std::vector<Children::Ending>& failed, const LastWords& last_words) {
  const auto killed = std::ranges::find_if(
      failed, [](const Children::Ending& ending) { return WIFSIGNALED(ending.status); });
  if (killed != failed.end()) {
    throw ExecutionError(
        fmt::format("rank {} was killed by signal {}", killed->rank, WTERMSIG(killed->status)));
  }
  if (const auto message = last_words.first()) {
    std::cerr << message->text;
    return message->code;
  }
  return failed.empty() ? Exit::Done : static_cast<Exit>(WEXITSTATUS(failed.front().status));
}

}  // namespace

std::uint32_t tcp_ranks(const TcpOptions& options) {
  if (options.spawn) {
    return *options.spawn;
  }
  if (options.world_size) {
    return *options.world_size;
  }
  const auto launched = launched_process();
  if (!launched || launched->ranks == 0) {
    throw InputError("how many ranks there are is not known", "--world-size", no_launcher_hint);
  }
  return launched->ranks;
}

TcpPlace tcp_place(const MeasureCommand& command) {
  const TcpOptions& options = command.tcp;
  TcpPlace place;
  place.ranks = tcp_ranks(options);
  require_descriptors(place.ranks, "--world-size");
  const auto launched = launched_process();
  if (!options.rank && !launched) {
    throw InputError("which rank this process is, is not known", "--rank", no_launcher_hint);
  }
  place.rank = options.rank ? *options.rank : launched->rank;
  if (place.rank >= place.ranks) {
    throw InputError(fmt::format("rank {} is none of 0 to {}", place.rank, place.ranks - 1),
                     "--rank");
  }
  place.master = master_of(options.master);
  place.bind = own_address(options.bind);
  if (!is_loopback(place.master.host) && is_loopback(place.bind)) {
    throw InputError("other machines cannot reach " + place.bind, "--bind",
                     "--bind ADDRESS, the address of this machine on the network of --master");
  }
  require_master(place.master, place.rank);
  place.secret = secret_of(options.secret_file);
  place.patience = std::chrono::seconds(command.timeout);
  return place;
}

Exit spawn_ranks(std::uint32_t ranks, std::chrono::milliseconds patience,
                 const std::function<Exit(const TcpPlace&)>& work) {
  require_descriptors(ranks, "--spawn");
  const LastWords last_words;
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
    const sigset_t unblocked = block_interrupts();
    const pid_t child = fork();
    if (child == 0) {
      leave_interrupts_to_parent();
    }
    sigprocmask(SIG_SETMASK, &unblocked, nullptr);
    if (child < 0) {
      throw ExecutionError("cannot start a process: " + system_error_text(errno));
    }
    if (child == 0) {
      place.listener = place.rank == 0 ? &door : nullptr;
      if (place.rank != 0) {
        door.close();
      }
      be_rank(place, parent, last_words, work);
    }
    children.add(child, place.rank);
  }
  door.close();

  constexpr std::chrono::milliseconds look_again{5};
  constexpr std::chrono::seconds grace{2};
  std::vector<Children::Ending> failed;
  auto limit = std::chrono::steady_clock::time_point::max();
  while (children.any() && std::chrono::steady_clock::now() < limit) {
    const auto ending = children.look();
    if (!ending) {
      std::this_thread::sleep_for(look_again);
    } else if (ending->status != 0) {
      failed.push_back(*ending);
      limit = std::min(limit, std::chrono::steady_clock::now() + grace);
    }
  }
  children.kill_all();
  return ending_of(failed, last_words);
}

}  // namespace collsim
