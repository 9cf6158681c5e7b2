#include "core/config/composition_checks.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/base/words.h"
#include "core/config/train.h"

namespace draftlab {
namespace {

class Checks {
 public:
  Checks(const Composition& arm, const Config& config, const Registries& registries,
         Diagnostics& diagnostics)
      : arm_(arm), config_(config), registries_(registries), diagnostics_(diagnostics) {}

  void run() {
    check_part(arm_.frontier, "frontier");
    check_part(arm_.drafter, "drafter");
    const bool routes = check_part(arm_.router, "router");
    check_part(arm_.verifier, "verifier", routes && verifies(arm_));
    check_part(arm_.acceptance, "acceptance");
    check_estimate();
    check_taking_back();
    check_showing();
    check_draft_rule();
    check_vectors();
    check_own_rule();
    if (arm_.estimator) check_part(*arm_.estimator, "estimator");
    for (const auto& [name, estimator] : arm_.attached) check_part(estimator, "estimator." + name);
    check_part(arm_.unmasker, "unmasker");
    if (arm_.task.make) check_part(arm_.task, "task");
    if (arm_.trainer) check_part(*arm_.trainer, "trainer");
  }
  const std::set<DecodeKey>& read() const { return read_; }

 private:
  // Returns the place that a sentence about a key begins with.
  std::string place(const std::string& key) const {
    const Config::Entry* const entry = config_.find(key);
    return entry ? entry->where : file_of(config_);
  }

  // Returns whether the part could be made.
  template <class Interface>
  bool check_part(const Factory<Interface>& bound, const std::string& kind, bool asked = true) {
    const std::string named = place(kind) + ": " + kind + " '" + bound.name + "'";
    try {
      const std::unique_ptr<Interface> part = bound.make();
      if constexpr (std::is_base_of_v<Part, Interface>) {
        if (asked) {
          check_asks(part->asks(), named, "");
          for (const DecodeKey key : part->reads()) read_.insert(key);
        }
      }
      if constexpr (std::is_same_v<Drafter, Interface>)
        check_asks(part->asks_draft_model(), named, "draft");
      return true;
    } catch (const ConfigError& error) {
      diagnostics_.add("{}: {}", named, error.what());
      return false;
    }
  }

  void check_estimate() {
    if (arm_.estimator || !diagnostics_.empty() || !arm_.router.make()->reads_expected()) return;
    diagnostics_.add(
        "{}: router '{}' reads the expected accepted prefix; write estimator = NAME, there are: {}",
        place("router"), arm_.router.name, joined(registries_.estimators.names()));
  }

  void check_own_rule() {
    if (!diagnostics_.empty() || !verifies(arm_) || !arm_.verifier.make()->has_own_rule() ||
        arm_.acceptance.make()->exact())
      return;
    diagnostics_.add(
        "{}: verifier '{}' judges by a rule of its own, so acceptance '{}' as configured would not "
        "be asked; it must be the exact ratio test (acceptance = speculative, gamma = 1, epsilon = "
        "0, resample = true)",
        place("acceptance"), arm_.verifier.name, arm_.acceptance.name);
  }

  void check_taking_back() {
    if (!diagnostics_.empty() || !arm_.unmasker.make()->takes_back()) return;
    const auto refuse = [&](const std::string& why) {
      diagnostics_.add("{}: unmasker '{}' takes tokens back, {}", place("unmasker"),
                       arm_.unmasker.name, why);
    };
    if (verifies(arm_))
      refuse("and a verification judges as if they were final; router must be never");
    if (!arm_.frontier.make()->settles())
      refuse("and frontier '" + arm_.frontier.name +
             "' does not open a position twice; frontier must be blocks");
  }

  void check_showing() {
    if (!diagnostics_.empty() || !arm_.unmasker.make()->shows() || !verifies(arm_)) return;
    diagnostics_.add(
        "{}: unmasker '{}' says what masked positions show, and what a verification commits it "
        "would not show; router must be never",
        place("unmasker"), arm_.unmasker.name);
  }

  void check_draft_rule() {
    if (!diagnostics_.empty()) return;
    const DraftRule rule = arm_.decode.draft_rule;
    const bool reads_none =
        rule == DraftRule::fixed || rule == DraftRule::matches || rule == DraftRule::goodput;
    if (arm_.decode.draft_adapts && reads_none)
      diagnostics_.add(
          "{}: decode.draft_adapts = true moves decode.draft_stop, which decode.draft_rule = {} "
          "does not read",
          place("decode.draft_adapts"), word(rule));
  }

  // A model speaks vectors if it answers the laws of reverse steps, and a drafter or verifier is
  // for vectors if it asks for those laws. A verifier that a router never asks is only given drafts
  // that need no test.
  void check_vectors() {
    const auto target = arm_.models.find("");
    if (target == arm_.models.end() || !diagnostics_.empty()) return;
    const auto speaks = [](const std::vector<Form>& forms) {
      return std::count(forms.begin(), forms.end(), Form::reverse) > 0;
    };
    const auto answers = [&](const Factory<Model>& model) {
      return speaks(registries_.models.find(model.name)->forms);
    };
    const auto refuse = [&](const std::string& key, const std::string& why) {
      diagnostics_.add("{}: {}", place(key), why);
    };
    const bool vectors = answers(target->second);
    const std::string whose =
        "the tokens of model '" + target->second.name + (vectors ? "' are vectors" : "' are ids");
    if (const auto draft = arm_.models.find("draft");
        draft != arm_.models.end() && answers(draft->second) != vectors)
      refuse("model.draft", whose + ", and those of model.draft = " + draft->second.name +
                                (vectors ? " are ids" : " are vectors"));
    if (speaks(arm_.drafter.make()->asks()) != vectors)
      refuse("drafter", "drafter '" + arm_.drafter.name + "' drafts " +
                            (vectors ? "ids, and " : "vectors, and ") + whose);
    const bool judges = verifies(arm_);
    if (judges && speaks(arm_.verifier.make()->asks()) != vectors)
      refuse("verifier", "verifier '" + arm_.verifier.name + "' judges " +
                             (vectors ? "ids, and " : "vectors, and ") + whose);
    if (!vectors) return;
    if (judges && !arm_.acceptance.make()->judges_densities())
      refuse("acceptance", "acceptance '" + arm_.acceptance.name +
                               "' as configured judges no densities, and " + whose);
    if (arm_.decode.sampling.top_k != 0 || arm_.decode.sampling.top_p != 1)
      refuse("decode.top_k", whose +
                                 ", of which no most probable ones can be kept; decode.top_k must "
                                 "be 0 and decode.top_p 1");
    if (arm_.decode.edit_threshold < 1)
      refuse("decode.edit_threshold",
             whose + ", which are not edited; decode.edit_threshold must be 1");
  }

  // `part` is a place and the part there; `role` says which model it asks.
  void check_asks(const std::vector<Form>& asks, const std::string& part, const std::string& role) {
    const auto model = arm_.models.find(role);
    if (model == arm_.models.end()) {
      if (!asks.empty() && role == "draft")
        diagnostics_.add("{} asks a draft model; write model.draft = NAME, there are: {}", part,
                         joined(registries_.models.names()));
      return;
    }
    const std::vector<Form>& answered = registries_.models.find(model->second.name)->forms;
    for (Form form : asks) {
      if (std::count(answered.begin(), answered.end(), form)) continue;
      std::vector<std::string> forms;
      for (Form other : answered) forms.emplace_back(draftlab::name(other));
      diagnostics_.add("{} asks '{}' questions, which model '{}' does not answer (it answers {})",
                       part, draftlab::name(form), model->second.name, joined(forms));
    }
  }

  const Composition& arm_;
  const Config& config_;
  const Registries& registries_;
  Diagnostics& diagnostics_;
  std::set<DecodeKey> read_;
};

}  // namespace

std::set<DecodeKey> check_parts(const Composition& arm, const Config& config,
                                const Registries& registries, Diagnostics& diagnostics) {
  Checks checks(arm, config, registries, diagnostics);
  checks.run();
  return checks.read();
}

}  // namespace draftlab
