#include "tools/measure_show.hpp"

#include <string>

#include "tools/file_writer.hpp"
#include "tools/machine_facts.hpp"
#include "tools/output.hpp"
#include "tools/render_measure.hpp"
#include "validate/io/measurements_json.hpp"

namespace collsim {

Exit show_measured(const MeasureCommand& command, const MeasurePlan& plan,
                   const std::vector<MeasuredLine>& lines, const std::vector<RankPlace>& places,
                   const GpuSoftware& software) {
  const MachineFacts facts = machine_facts();
  write_stdout(render_measure(command, plan, lines, facts, places));
  if (!command.output.to_stdout()) {
    Measurements measurements = measurements_of(command, plan, lines, facts, places);
    software.add_to(measurements);
    write_file("--output", command.output.file, write_measurements_json(measurements));
  }
  const std::vector<std::string> wrong = wrong_data(plan, lines);
  for (const std::string& text : wrong) {
    note(OutputOptions{}, "wrong data: " + text);
  }
  return wrong.empty() ? Exit::Done : Exit::CheckFailed;
}

void require_place_for_output(const OutputOptions& output) {
  if (!output.to_stdout()) {
    require_writable("--output", output.file);
  }
}

}  // namespace collsim
