#include "core/config/composition_checks.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/base/words.h"
#include "core/config/train.h"

namespace draftlab {
namespace {

class Checks {
 public:
  Checks(const Config& config, const Registries& registries, Faults& faults)
      : config_(config), registries_(registries), faults_(faults) {}

  void run(const Composition& arm) {
    check_part(arm.frontier, "frontier", arm);
    check_part(arm.drafter, "drafter", arm);
    const bool routes = check_part(arm.router, "router", arm);
    check_part(arm.verifier, "verifier", arm, routes && verifies(arm));
    check_part(arm.acceptance, "acceptance", arm);
    check_estimate(arm);
    check_taking_back(arm);
    check_draft_rule(arm);
    check_vectors(arm);
    check_own_rule(arm);
    if (arm.estimator) check_part(*arm.estimator, "estimator", arm);
    for (const auto& [name, estimator] : arm.attached)
      check_part(estimator, "estimator." + name, arm);
    check_part(arm.unmasker, "unmasker", arm);
    if (arm.task.make) check_part(arm.task, "task", arm);
    if (arm.trainer) check_part(*arm.trainer, "trainer", arm);
  }
  const std::set<DecodeKey>& read() const { return read_; }

 private:
  // Returns whether the part could be made.
  template <class Interface>
  bool check_part(const Factory<Interface>& bound, const std::string& kind, const Composition& arm,
                  bool asked = true) {
    const Config::Entry* const entry = config_.find(kind);
    const std::string place = entry ? entry->where : file_of(config_);
    try {
      const std::unique_ptr<Interface> part = bound.make();
      if constexpr (std::is_base_of_v<Part, Interface>) {
        if (asked) {
          check_asks(part->asks(), kind + " '" + bound.name + "'", place, arm, "");
          for (const DecodeKey key : part->reads()) read_.insert(key);
        }
      }
      if constexpr (std::is_same_v<Drafter, Interface>)
        check_asks(part->asks_draft_model(), kind + " '" + bound.name + "'", place, arm, "draft");
      return true;
    } catch (const ConfigError& error) {
      faults_.add("{}: {} '{}': {}", place, kind, bound.name, error.what());
      return false;
    }
  }

  void check_estimate(const Composition& arm) {
    if (arm.estimator || !faults_.empty() || !arm.router.make()->reads_expected()) return;
    const Config::Entry* const entry = config_.find("router");
    faults_.add(
        "{}: router '{}' reads the expected accepted prefix; write estimator = NAME, there are: {}",
        entry ? entry->where : file_of(config_), arm.router.name,
        joined(registries_.estimators.names()));
  }

  void check_own_rule(const Composition& arm) {
    if (!faults_.empty() || !verifies(arm) || !arm.verifier.make()->has_own_rule() ||
        arm.acceptance.make()->exact())
      return;
    const Config::Entry* const entry = config_.find("acceptance");
    faults_.add(
        "{}: verifier '{}' judges by a rule of its own, so acceptance '{}' as configured would not "
        "be asked; it must be the exact ratio test (acceptance = speculative, gamma = 1, epsilon = "
        "0, resample = true)",
        entry ? entry->where : file_of(config_), arm.verifier.name, arm.acceptance.name);
  }

  void check_taking_back(const Composition& arm) {
    if (!faults_.empty() || !arm.unmasker.make()->takes_back()) return;
    const Config::Entry* const entry = config_.find("unmasker");
    const auto refuse = [&](const std::string& why) {
      faults_.add("{}: unmasker '{}' takes tokens back, {}",
                  entry ? entry->where : file_of(config_), arm.unmasker.name, why);
    };
    if (verifies(arm))
      refuse("and a verification judges as if they were final; router must be never");
    if (!arm.frontier.make()->settles())
      refuse("and frontier '" + arm.frontier.name +
             "' does not open a position twice; frontier must be blocks");
  }

  void check_draft_rule(const Composition& arm) {
    if (!faults_.empty()) return;
    const DraftRule rule = arm.decode.draft_rule;
    const Config::Entry* const entry = config_.find("decode.draft_adapts");
    const std::string place = entry ? entry->where : file_of(config_);
    const bool reads_none =
        rule == DraftRule::fixed || rule == DraftRule::matches || rule == DraftRule::goodput;
    if (arm.decode.draft_adapts && reads_none)
      faults_.add(
          "{}: decode.draft_adapts = true moves decode.draft_stop, which decode.draft_rule = {} "
          "does not read",
          place, word(rule));
  }

  // A model speaks vectors if it answers the laws of reverse steps, and a drafter or verifier is
  // for vectors if it asks for those laws. A verifier that a router never asks is only given drafts
  // that need no test.
  void check_vectors(const Composition& arm) {
    const auto target = arm.models.find("");
    if (target == arm.models.end() || !faults_.empty()) return;
    const auto speaks = [](const std::vector<Form>& forms) {
      return std::count(forms.begin(), forms.end(), Form::reverse) > 0;
    };
    const auto answers = [&](const Factory<Model>& model) {
      return speaks(registries_.models.find(model.name)->forms);
    };
    const auto refuse = [&](const std::string& key, const std::string& why) {
      const Config::Entry* const entry = config_.find(key);
      faults_.add("{}: {}", entry ? entry->where : file_of(config_), why);
    };
    const bool vectors = answers(target->second);
    const std::string whose =
        "the tokens of model '" + target->second.name + (vectors ? "' are vectors" : "' are ids");
    if (const auto draft = arm.models.find("draft");
        draft != arm.models.end() && answers(draft->second) != vectors)
      refuse("model.draft", whose + ", and those of model.draft = " + draft->second.name +
                                (vectors ? " are ids" : " are vectors"));
    if (speaks(arm.drafter.make()->asks()) != vectors)
      refuse("drafter", "drafter '" + arm.drafter.name + "' drafts " +
                            (vectors ? "ids, and " : "vectors, and ") + whose);
    const bool judges = verifies(arm);
    if (judges && speaks(arm.verifier.make()->asks()) != vectors)
      refuse("verifier", "verifier '" + arm.verifier.name + "' judges " +
                             (vectors ? "ids, and " : "vectors, and ") + whose);
    if (!vectors) return;
    if (judges && !arm.acceptance.make()->judges_densities())
      refuse("acceptance", "acceptance '" + arm.acceptance.name +
                               "' as configured judges no densities, and " + whose);
    if (arm.decode.sampling.top_k != 0 || arm.decode.sampling.top_p != 1)
      refuse("decode.top_k", whose +
                                 ", of which no most probable ones can be kept; decode.top_k must "
                                 "be 0 and decode.top_p 1");
    if (arm.decode.edit_threshold < 1)
      refuse("decode.edit_threshold",
             whose + ", which are not edited; decode.edit_threshold must be 1");
  }

  void check_asks(const std::vector<Form>& asks, const std::string& part, const std::string& place,
                  const Composition& arm, const std::string& role) {
    const auto model = arm.models.find(role);
    if (model == arm.models.end()) {
      if (!asks.empty() && role == "draft")
        faults_.add("{}: {} asks a draft model; write model.draft = NAME, there are: {}", place,
                    part, joined(registries_.models.names()));
      return;
    }
    const std::vector<Form>& answered = registries_.models.find(model->second.name)->forms;
    for (Form form : asks) {
      if (std::count(answered.begin(), answered.end(), form)) continue;
      std::vector<std::string> forms;
      for (Form other : answered) forms.emplace_back(draftlab::name(other));
      faults_.add("{}: {} asks '{}' questions, which model '{}' does not answer (it answers {})",
                  place, part, draftlab::name(form), model->second.name, joined(forms));
    }
  }

  const Config& config_;
  const Registries& registries_;
  Faults& faults_;
  std::set<DecodeKey> read_;
};

}  // namespace

std::set<DecodeKey> check_parts(const Composition& arm, const Config& config,
                                const Registries& registries, Faults& faults) {
  Checks checks(config, registries, faults);
  checks.run(arm);
  return checks.read();
}

}  // namespace draftlab
