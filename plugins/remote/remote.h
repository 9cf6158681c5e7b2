// One instance of a class that lives in another process, and what parts of every kind send it and
// read back.
#pragma once

#include <memory>
#include <string>

#include "core/base/author.h"
#include "core/parts/part.h"
#include "core/parts/proposal.h"
#include "core/parts/step.h"
#include "core/parts/step_view.h"
#include "plugins/remote/part_spec.h"
#include "plugins/remote/peer.h"
#include "plugins/remote/scope.h"

namespace draftlab::remote {

class Remote {
 public:
  // Makes the instance. Throws ConfigError with the traceback where its constructor refuses.
  Remote(std::shared_ptr<Peer> peer, std::shared_ptr<const PartSpec> spec, const Json& options);
  // Makes an instance of the same class with the same options, in a process that was started again.
  struct Again {};
  Remote(const Remote& lost, Again) : Remote(lost.peer_, lost.spec_, lost.options_) {}
  ~Remote();
  Remote(const Remote&) = delete;

  const PartSpec& spec() const { return *spec_; }
  bool has(const std::string& method) const { return spec_->has(method); }
  // Calls a method, which may ask about the scope's distributions meanwhile. Its part took `spent`
  // seconds over this step before.
  Message call(const char* method, Message arguments = {}, Scope* scope = nullptr,
               double spent = 0) const;
  // Sends the blocks and the decode options, which hold for every later call.
  void begin(const Blocks& blocks, const DecodeOptions& decode) const;
  // Drops a generator that waits for an answer that will not come.
  void drop(std::uint64_t call) const noexcept;
  // Forgets a sequence of a model.
  void forget(std::uint64_t sequence) const noexcept;
  Peer& peer() const { return *peer_; }
  // Says whether its process is still that in which it was made.
  bool current() const { return generation_ == peer_->generation(); }

  // Returns the state that certification compares; "" for a class that keeps nothing.
  std::string state() const;
  void observe(const Canvas& canvas, const Route& route, const Verdict& verdict) const;

  // Returns the kind and the name of the part, such as "router 'long-spans'".
  std::string who() const;
  Author author() const { return {spec_->kind, spec_->name, peer_->name()}; }
  // Throws a PartFault about what the part answered. The form, whose {} are filled in with the
  // values, goes on after the part's name: "router 'x' (a.py) gives 2 probabilities for 3 drafts".
  template <class... Values>
  [[noreturn]] void refuse(fmt::format_string<Values...> form, Values&&... values) const {
    fail(filled_in(form, fmt::make_format_args(values...)));
  }

  // Tells the user, once a part, what makes the part's results doubtful; decoding goes on.
  template <class... Values>
  void doubt(fmt::format_string<Values...> form, Values&&... values) const {
    warn(filled_in(form, fmt::make_format_args(values...)));
  }

 private:
  [[noreturn]] void fail(const std::string& sentence) const;
  void warn(const std::string& sentence) const;
  Message request(const Message& message, Scope* scope, double spent = 0) const;
  std::shared_ptr<Peer> peer_;
  std::shared_ptr<const PartSpec> spec_;
  Json options_;
  int id_, generation_;
};

// Runs `read` on an answer. Where something is missing in the answer or has another type, it throws
// a PartFault that names the part.
template <class Read>
auto understood(const Remote& remote, const Message& answer, const Read& read) {
  try {
    return read(answer);
  } catch (const Json::exception& error) {
    remote.refuse("answered {}", not_allowed(answer.header, error));
  } catch (const MalformedMessage& error) {
    remote.refuse("answered {}", error.what());
  } catch (const Fault& error) {  // A scope's faults do not name the part.
    remote.refuse("answered what is none: {}", error.what());
  }
}

// These append what parts see to a message.
void describe(const Canvas& canvas, Message& message);
void describe(const StepView& view, Message& message);
void describe(const Step& step, Message& message, Scope& scope);
void describe(const Proposal& proposal, Message& message, Scope& scope);
void describe(const Verdict& verdict, Message& message);

// Reads what a part answers in a step. A PartFault names what breaks the contract of
// core/README.md.
class AnswerReader {
 public:
  AnswerReader(const Remote& remote, const Step& step) : remote_(remote), step_(step) {}
  Question question(const Json& asked, int& model) const;
  Proposal proposal(const Message& answer, Scope& scope) const;
  Verdict verdict(const Proposal& proposal, const Message& answer, const Scope& scope) const;

 private:
  // Refuses a position that no drafted and no committed token may take.
  void check_position(std::int32_t position, const char* verb) const;
  void check_token(Token token) const;
  // Drafted nodes are rows of three numbers: parent, position, token.
  std::vector<Node> nodes(const Json& rows) const;
  std::vector<Commit> commits(const Json& rows, bool edits) const;
  Carry carry(const Json& from, const Scope& scope) const;

  const Remote& remote_;
  const Step& step_;
};

}  // namespace draftlab::remote
