#pragma once

// The keys by which an experiment says what a job is: the options of `collsim run` with _ for -, and besides these
// set.PATH for a value of the cluster's description and env.NAME for a variable of NCCL's.

#include <string>
#include <string_view>
#include <vector>

namespace collsim {

inline constexpr std::string_view setting_prefix = "set.";
inline constexpr std::string_view variable_prefix = "env.";

/// "cluster", "collective", …: those without a dot.
[[nodiscard]] const std::vector<std::string>& job_keys();

/// Whether it is one of these, or begins with set. or env. and goes on.
[[nodiscard]] bool is_job_key(std::string_view key);

/// Whether the key's value may name a file, relative to that of the experiment.
[[nodiscard]] bool names_file(std::string_view key);

/// Refuses a value that no cluster makes right: a word that is not known, what is no number or size.
/// Throws: InputError without a path.
void check_job_value(const std::string& key, const std::string& value);

}  // namespace collsim
