#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/json_text.hpp"
#include "tools/render_validation.hpp"
#include "topology/error.hpp"

namespace collsim {

namespace {

using nlohmann::ordered_json;

/// Enough for what was measured to a percent.
double rounded(double value) {
  constexpr double digits = 1e6;
  return std::round(value * digits) / digits;
}

double microseconds(Duration time) { return static_cast<double>(time.count()) / 1e6; }

std::string_view key_of(Rival rival) {
  switch (rival) {
    case Rival::BestLine:
      return "best_line";
    case Rival::NcclFormula:
      return "nccl_formula";
    case Rival::ConstantBusbw:
      return "constant_busbw";
  }
  COLLSIM_ENSURE(false, "a value outside its enumeration");
}

ordered_json in_place_json(const MeasuredRow& row) {
  return row.in_place ? ordered_json(*row.in_place == InPlace::Yes) : ordered_json(nullptr);
}

ordered_json worst_json(const ValidationView& view, const ScoredRow& worst) {
  const ValidatedRun& run = view.validation.runs[worst.place.run];
  const MeasuredRow& row = *run.rows[worst.place.row].row;
  return {{"machine", run.table->machine},
          {"collective", name_of(run.table->run->collective)},
          {"ranks", run.table->run->ranks},
          {"nodes", run.table->nodes},
          {"datatype", name_of(run.table->run->type)},
          {"bytes", row.bytes.count()},
          {"in_place", in_place_json(row)},
          {"error", rounded(worst.error)}};
}

/// Without points there is nothing but their number.
void add_score(ordered_json& json, const ValidationView& view, const Score& score) {
  const bool any = score.worst.has_value();
  const auto figure = [any](double value) {
    return any ? ordered_json(rounded(value)) : ordered_json(nullptr);
  };
  json["points"] = score.errors.points;
  json["median_abs_error"] = figure(score.errors.median_abs);
  json["p90_abs_error"] = figure(score.errors.p90_abs);
  json["bias"] = figure(score.errors.bias);
  json["worst"] = any ? worst_json(view, *score.worst) : ordered_json(nullptr);
}

ordered_json score_json(const ValidationView& view, const Score& score) {
  ordered_json json = ordered_json::object();
  add_score(json, view, score);
  return json;
}

ordered_json scores_json(const ValidationView& view, const Scores& scores) {
  ordered_json json = score_json(view, scores.all);
  ordered_json bands = ordered_json::object();
  for (const SizeBand band : size_bands) {
    bands[std::string(name_of(band))] =
        score_json(view, scores.by_band.at(static_cast<std::size_t>(band)));
  }
  json["by_band"] = std::move(bands);
  ordered_json collectives = ordered_json::object();
  for (const auto& [kind, score] : scores.by_collective) {
    collectives[std::string(name_of(kind))] = score_json(view, score);
  }
  json["by_collective"] = std::move(collectives);
  return json;
}

ordered_json outside_names(const ValidatedRow& row) {
  ordered_json names = ordered_json::array();
  for (const OutsideFit& outside : row.outside) {
    names.push_back(outside.what);
  }
  return names;
}

ordered_json row_json(const ValidatedRow& row) {
  ordered_json json{{"bytes", row.row->bytes.count()},
                    {"in_place", in_place_json(*row.row)},
                    {"measured_us", microseconds(row.row->time)},
                    {"predicted_us", microseconds(row.predicted)},
                    {"error", rounded(row.error)},
                    {"algorithm", row.algorithm},
                    {"protocol", row.protocol},
                    {"channels", row.channels},
                    {"suspect", row.row->suspect},
                    {"outside_fit", outside_names(row)},
                    {"apart", row.apart != Apart::No}};
  ordered_json of_rivals = ordered_json::object();
  for (const Rival rival : rivals) {
    if (const auto& time = row.rival_times.at(static_cast<std::size_t>(rival))) {
      of_rivals[std::string(key_of(rival)) + "_us"] = microseconds(*time);
    }
  }
  json["rivals"] = std::move(of_rivals);
  return json;
}

ordered_json run_json(const ValidationView& view, std::size_t index) {
  const ValidatedRun& run = view.validation.runs[index];
  const MeasuredRun& measured = *run.table->run;
  ordered_json json{{"machine", run.table->machine},
                    {"cluster", run.table->cluster->name()},
                    {"collective", name_of(measured.collective)},
                    {"ranks", measured.ranks},
                    {"nodes", run.table->nodes},
                    {"datatype", name_of(measured.type)},
                    {"nccl", run.table->nccl},
                    {"launch", name_of(run.table->launch.mode)}};
  json["environment"] = ordered_json::object();
  for (const auto& [name, value] : measured.software.environment) {
    json["environment"][name] = value;
  }
  json["choices"] = ordered_json::array();
  for (const RunChoice& choice : choices_of(run)) {
    json["choices"].push_back({{"from_bytes", choice.from.count()},
                               {"algorithm", choice.algorithm},
                               {"protocol", choice.protocol}});
  }
  add_score(json, view, view.scores.runs[index]);
  json["rivals"] = ordered_json::object();
  for (const Rival rival : rivals) {
    json["rivals"][std::string(key_of(rival))] =
        score_json(view, view.scores.run_rivals[index].at(static_cast<std::size_t>(rival)));
  }
  json["source"] = measured.source;
  json["rows"] = ordered_json::array();
  for (const ValidatedRow& row : run.rows) {
    json["rows"].push_back(row_json(row));
  }
  return json;
}

}  // namespace

std::string render_validation_json(const ValidationView& view) {
  ordered_json document{{"schema", "collsim/validation/1"}, {"version", COLLSIM_VERSION}};
  document["parameters"] = ordered_json::array();
  for (const ValidatedMachine& machine : view.machines) {
    document["parameters"].push_back(
        {{"machine", machine.name},
         {"cluster", machine.cluster},
         {"input_digest", machine.digest},
         {"name", machine.parameters.name},
         {"tier", machine.parameters.tier ? ordered_json(name_of(*machine.parameters.tier))
                                          : ordered_json(nullptr)},
         {"source", machine.parameters.provenance}});
  }
  document["launch_offsets"] = ordered_json::array();
  for (const LaunchOffset& offset : view.validation.offsets) {
    document["launch_offsets"].push_back({{"machine", offset.machine},
                                          {"launch", name_of(offset.launch)},
                                          {"offset_us", microseconds(offset.more)},
                                          {"points", offset.points}});
  }
  document["summary"] = scores_json(view, view.scores.summary);
  document["rivals"] = ordered_json::object();
  for (const Rival rival : rivals) {
    document["rivals"][std::string(key_of(rival))] =
        scores_json(view, view.scores.rival.at(static_cast<std::size_t>(rival)));
  }
  document["apart"] = scores_json(view, view.scores.apart);
  document["outside_fit"] = score_json(view, view.scores.outside_fit);
  document["runs"] = ordered_json::array();
  for (std::size_t i = 0; i < view.validation.runs.size(); ++i) {
    document["runs"].push_back(run_json(view, i));
  }
  document["left_out"] = view.left_out;
  return json_text(document);
}

}  // namespace collsim
