// Gives bytes to one of the readers of files and messages that come from outside. A reader may take
// them or refuse them with a DataError (or with MalformedMessage, on the wire); anything else is a
// fault. Under the preset libfuzzer, libFuzzer invents the bytes and keeps those that reach new
// lines:
//   DRAFTLAB_READER=config build/libfuzzer/bin/fuzz_coverage -max_total_time=3600 FOLDER
// (with ASAN_OPTIONS=allocator_may_return_null=1 for traces, since HDF5 may ask for too much and be
// refused).
// Built as the tests are, the program reads each of the files named once:
//   fuzz_coverage CORPUS   (CORPUS/READER/FILE, such as tests/fuzz/corpus)
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>

#include "core/base/documents.h"
#include "core/base/error.h"
#include "core/base/memory_file.h"
#include "core/config/composition.h"
#include "core/config/sweep_cells.h"
#include "core/trace/checksum.h"
#include "core/trace/trace_file.h"
#include "plugins/models/nn/checkpoint/gguf.h"
#include "plugins/models/nn/checkpoint/safetensors.h"
#include "plugins/remote/wire/channel.h"
#include "plugins/tokenizers/tokenizer_json.h"

namespace draftlab {
namespace {

void config(const std::string& bytes) {
  const Registries none;
  Diagnostics diagnostics;
  const Config config = Config::parse(bytes, "fuzz.ini", diagnostics);
  without_effect(expand(config, none, diagnostics), none);
  for (const std::string& sentence : diagnostics.sentences())
    if (sentence.find('\n') != std::string::npos) throw Fault("a fault of two lines");
}

// A file that has a name of its own: HDF5 follows the link that leads to a file in memory, and then
// finds nothing.
struct NamedFile {
  explicit NamedFile(const std::string& bytes)
      : path(std::filesystem::temp_directory_path() / "draftlab-fuzz-XXXXXX") {
    const int file = ::mkstemp(path.data());
    if (file < 0 || ::write(file, bytes.data(), bytes.size()) != std::ssize(bytes))
      throw OutputError("cannot write '{}'", path);
    ::close(file);
  }
  ~NamedFile() { ::unlink(path.c_str()); }
  std::string path;
};

// The checksum is made to fit, so that what was damaged is read.
void trace(const std::string& bytes) {
  std::string sealed = bytes;
  seal(std::as_writable_bytes(std::span(sealed)));
  const NamedFile stored(sealed);
  const Trace trace(stored.path);
  if (trace.read().size() != static_cast<std::size_t>(trace.samples()))
    throw Fault("other samples than the trace says");
}

void safetensors(const std::string& bytes) {
  const MemoryFile stored(bytes);
  const SafetensorsFile file(stored.path());
  for (const auto& [name, tensor] : file.tensors())
    if (tensor.bytes.size() != byte_count(tensor.type, tensor.shape))
      throw Fault("a tensor of other bytes than its shape says");
}

void gguf(const std::string& bytes) {
  const MemoryFile stored(bytes);
  const GgufFile file(stored.path());
  for (const auto& [name, tensor] : file.tensors()) {
    std::size_t count = 1;
    for (const std::int64_t size : tensor.shape) count *= static_cast<std::size_t>(size);
    if (count > 2 * tensor.bytes.size()) throw Fault("more numbers than bytes can hold");
    std::vector<float> numbers(count);
    decode(tensor, numbers.data());
  }
}

void tokenizer(const std::string& bytes) {
  ByteLevelParts parts = read_tokenizer_json(bytes, "fuzz.json");
  add_turn_ends(parts);
  parts.ends.push_back(parts.vocabulary.empty() ? 0 : parts.vocabulary.begin()->second);
  const ByteLevelTokenizer tokenizer(std::move(parts), "fuzz.json");
  for (const Token token : tokenizer.encode("It's a caf\u00e9, 12 times.\n"))
    if (token < 0 || token >= tokenizer.vocabulary()) throw Fault("a token outside the vocabulary");
}

void json_lines(const std::string& bytes) { parse_jsonl(bytes, "fuzz.jsonl", "text"); }

void csv(const std::string& bytes) {
  const CsvTable table = parse_csv(bytes, "fuzz.csv");
  for (const auto& row : table.rows)
    if (row.size() != table.columns.size()) throw Fault("a row of another width than the header");
}

// What another process says: messages, one behind the other, until it hangs up.
void wire(const std::string& bytes) {
  constexpr std::size_t kMost = 60000;  // fits in the socket's buffer
  int ends[2];
  if (bytes.size() > kMost || ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
  remote::Channel here(ends[0]);
  {
    const remote::Channel there(ends[1]);
    if (::send(ends[1], bytes.data(), bytes.size(), 0) < 0) return;
  }
  try {
    while (true) {
      const remote::Message message = here.receive(1);
      for (const char* name : {"tokens", "logits", "x"})
        if (message.has(name)) message.shape(name);
      if (message.has("tokens")) message.array<Token>("tokens");
      for (const char* name : {"logits", "x"})
        if (message.has(name)) message.array<float>(name);
    }
  } catch (const remote::Lost&) {}
}

const std::map<std::string, void (*)(const std::string&)> kReaders = {
    {"config", config}, {"trace", trace},         {"safetensors", safetensors}, {"gguf", gguf},
    {"csv", csv},       {"tokenizer", tokenizer}, {"json_lines", json_lines},   {"wire", wire}};

// Returns whether the reader took the bytes, rather than refuse them.
bool read(const std::string& reader, const std::string& bytes) {
  std::string refusal;
  try {
    kReaders.at(reader)(bytes);
    return true;
  } catch (const DataError& error) {
    refusal = error.what();
  } catch (const remote::MalformedMessage& error) {
    refusal = error.what();
  }
  if (refusal.empty()) throw Fault("a refusal without words");
  return false;
}

}  // namespace
}  // namespace draftlab

#ifdef DRAFTLAB_LIBFUZZER

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const char* const reader = std::getenv("DRAFTLAB_READER");
  if (!reader || !draftlab::kReaders.contains(reader)) {
    std::cerr << "DRAFTLAB_READER names one of:";
    for (const auto& [name, function] : draftlab::kReaders) std::cerr << " " << name;
    std::cerr << "\n";
    std::exit(64);
  }
  draftlab::read(reader, std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

#else

int main(int count, char** arguments) {
  long read = 0;
  for (const auto& [reader, function] : draftlab::kReaders) {
    const auto folder = std::filesystem::path(count > 1 ? arguments[1] : ".") / reader;
    if (!std::filesystem::is_directory(folder)) {
      std::cerr << "there is no corpus in '" << folder.string() << "'\n";
      return 1;
    }
    long taken = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      std::ifstream file(entry.path(), std::ios::binary);
      try {
        taken += draftlab::read(reader, {std::istreambuf_iterator<char>(file), {}});
      } catch (const std::exception& error) {
        std::cerr << entry.path().string() << ": " << error.what() << "\n";
        return 1;
      }
      ++read;
    }
    if (taken == 0) {  // Then no fuzzer that begins with these files reads far.
      std::cerr << "all files of '" << folder.string() << "' are refused\n";
      return 1;
    }
  }
  std::cout << read << " files read\n";
  return read > 0 ? 0 : 1;
}

#endif
