// One instance of a class of another process, and what parts of every kind send it and read back.
#pragma once

#include <memory>
#include <string>

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
  // Makes the instance; ConfigError with the traceback where its constructor refuses.
  Remote(std::shared_ptr<Peer> peer, std::shared_ptr<const PartSpec> spec, const Json& options);
  // The same class with the same options once more, in a process that was started again.
  struct Again {};
  Remote(const Remote& lost, Again) : Remote(lost.peer_, lost.spec_, lost.options_) {}
  ~Remote();
  Remote(const Remote&) = delete;

  const PartSpec& spec() const { return *spec_; }
  bool has(const std::string& method) const { return spec_->has(method); }
  // Calls a method, which may ask the scope's distributions meanwhile.
  Message call(const char* method, Message arguments = {}, Scope* scope = nullptr) const;
  // Hands every later call what is declared once.
  void begin(const Blocks& blocks, const DecodeOptions& decode) const;
  // Drops a generator that waits for an answer that will not come.
  void drop(std::uint64_t call) const noexcept;
  // Forgets a sequence of a model.
  void forget(std::uint64_t sequence) const noexcept;
  Peer& peer() const { return *peer_; }
  // Whether its process is still that in which it was made.
  bool current() const { return generation_ == peer_->generation(); }

  // What certification compares; "" for a class that keeps nothing.
  std::string state() const;
  void observe(const Canvas& canvas, const Route& route, const Verdict& verdict) const;

  // "router 'long-spans'".
  std::string who() const;
  // A Fault about what it answered: "router 'x' (a.py): " and the sentence.
  [[noreturn]] void refuse(const std::string& sentence) const;

 private:
  Message request(Message message, Scope* scope) const;
  std::shared_ptr<Peer> peer_;
  std::shared_ptr<const PartSpec> spec_;
  Json options_;
  int id_, generation_;
};

// Runs `read` on an answer; what is missing in it, or of another type, is a Fault that names the
// part.
template <class Read>
auto understood(const Remote& remote, const Message& answer, const Read& read) {
  try {
    return read(answer);
  } catch (const Json::exception& error) {
    remote.refuse(std::string("answered nonsense: ") + error.what());
  } catch (const Nonsense& error) {
    remote.refuse(std::string("answered ") + error.what());
  } catch (const Fault& error) {  // of a reference, which does not know whose it is
    const std::string sentence = error.what();
    if (sentence.starts_with(remote.who())) throw;
    remote.refuse("answered what is none: " + sentence);
  }
}

// What parts see, as they are sent.
void describe(const Canvas& canvas, Message& message);
void describe(const StepView& view, Message& message);
void describe(const Step& step, Message& message, Scope& scope);
void describe(const Proposal& proposal, Message& message, Scope& scope);
void describe(const Verdict& verdict, Message& message);

// What they answer. A Fault names what breaks the contract of core/README.md.
Question read_question(const Remote& remote, const Step& step, const Json& asked, int& model);
Proposal read_proposal(const Remote& remote, const Step& step, const Message& answer, Scope& scope);
Verdict read_verdict(const Remote& remote, const Step& step, const Proposal& proposal,
                     const Message& answer, Scope& scope);

}  // namespace draftlab::remote
