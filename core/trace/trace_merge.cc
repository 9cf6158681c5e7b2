#include "core/trace/trace_merge.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <tuple>

namespace draftlab {
namespace {

constexpr std::size_t kShared = 16;  // From so many files on, a second process helps to read them.
// The time of opening a column, and of reading one text, in numbers that could be read meanwhile.
constexpr std::size_t kOpening = 500, kText = 16;
// The usual size of a text.
constexpr std::size_t kTextBytes = 64;
// The bytes of the columns that are merged at a time.
constexpr std::size_t kGatheredBytes = 1024u << 20;

// Memory that a child of this process fills.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes)
      : size_(bytes),
        data_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~SharedMemory() {
    if (there()) ::munmap(data_, size_);
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  bool there() const { return data_ != MAP_FAILED; }
  std::byte* bytes() const { return static_cast<std::byte*>(data_); }

 private:
  std::size_t size_;
  void* data_;
};

// Returns the bytes of a column of numbers.
std::span<const std::byte> bytes_of(const Values& values) {
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&values))
    return std::as_bytes(std::span(*integers));
  return std::as_bytes(std::span(std::get<std::vector<double>>(values)));
}

// A column of numbers while it is gathered. As long as all numbers are the same, as in half of all
// columns, only the first is kept; then all are.
struct Numbers {
  // `width` is the bytes of one number, and `expected` how many numbers there will be.
  std::size_t width, expected;
  // How many of the numbers equal the first.
  std::size_t same = 0;
  Stored bytes = {};

  void append(const Stored& more) {
    if (more.empty()) return;
    if (bytes.empty())
      bytes.assign(more.begin(), more.begin() + static_cast<std::ptrdiff_t>(width));
    const bool alike =
        bytes.size() == width && std::equal(bytes.begin(), bytes.end(), more.begin()) &&
        std::equal(more.begin() + static_cast<std::ptrdiff_t>(width), more.end(), more.begin());
    if (alike) {
      same += more.size() / width;
      return;
    }
    write_out();
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  void write_out() {
    if (bytes.size() != width) return;
    const Stored one = std::exchange(bytes, {});
    reserve(bytes, expected * width);
    for (; same > 0; --same) bytes.insert(bytes.end(), one.begin(), one.end());
  }
};

// Returns the most shared memory that a packed column of `rows` numbers takes: deflate makes
// nothing larger by more than a hundredth.
std::size_t most_bytes(std::size_t rows) { return 9 * (rows + kChunk) + 4096; }

// Writes a packed column of numbers as bytes: the number of chunks, their sizes and the chunks; or
// zero chunks and the numbers.
std::byte* write_down(const Merge::Packed& column, std::byte* to) {
  const auto put = [&](const void* from, std::size_t bytes) {
    to = std::copy_n(static_cast<const std::byte*>(from), bytes, to);
  };
  const auto* const chunks = std::get_if<Chunks>(&column);
  const std::uint64_t count = chunks ? chunks->size() : 0;
  put(&count, sizeof count);
  if (!chunks) {
    const auto bytes = bytes_of(std::get<Values>(column));
    put(bytes.data(), bytes.size());
    return to;
  }
  for (const Chunk& chunk : *chunks) {
    const std::uint64_t size = chunk->size();
    put(&size, sizeof size);
    put(chunk->data(), size);
  }
  return to;
}

Merge::Packed read_back(Type type, std::size_t rows, const std::byte*& from) {
  const auto get = [&](void* to, std::size_t bytes) {
    std::copy_n(from, bytes, static_cast<std::byte*>(to));
    from += bytes;
  };
  std::uint64_t count = 0;
  get(&count, sizeof count);
  if (count == 0) {
    Values values = empty_values(type);
    std::visit(
        [&](auto& all) {
          all.resize(rows);
          get(all.data(), rows * 8);
        },
        values);
    return values;
  }
  Chunks chunks;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t size = 0;
    get(&size, sizeof size);
    std::vector<unsigned char> bytes(size);
    get(bytes.data(), size);
    chunks.push_back(std::make_shared<const std::vector<unsigned char>>(std::move(bytes)));
  }
  return chunks;
}

// What the sources hold, their rows laid end to end.
struct Laid {
  struct Sample {
    std::int64_t prompt, repeat, run, row;
    RowRange steps;
    auto key() const { return std::tuple(prompt, repeat, run); }
  };
  std::vector<Sample> samples;
  std::vector<RowRange> step_tokens, step_drafts;
  std::int64_t rows = 0, tokens = 0, drafts = 0;

  // Lays the rows of a file behind those before it, as far as they are wanted.
  void append(const ColumnReader& file, const Merge::Source& source);
  // Puts the samples in the order of a merged trace, each once.
  void sort();
};

void Laid::append(const ColumnReader& file, const Merge::Source& source) {
  const auto of = [&](Table table, const char* column) { return integers(file, table, column); };
  const auto prompt = of(Table::sample, "sample_prompt_index"),
             repeat = of(Table::sample, "sample_sample_index"),
             run = of(Table::sample, "sample_run_index");
  const auto first = of(Table::sample, "sample_first_step"),
             count = of(Table::sample, "sample_n_steps");
  const auto first_token = of(Table::step, "step_first_token"),
             n_tokens = of(Table::step, "step_n_tokens");
  const auto first_draft = of(Table::step, "step_first_draft"),
             n_drafts = of(Table::step, "step_n_drafts");
  check_ragged(file, "step", {first, count, 0, file.rows(Table::step)});
  check_ragged(file, "token", {first_token, n_tokens, 0, file.rows(Table::token)});
  check_ragged(file, "draft", {first_draft, n_drafts, 0, file.rows(Table::draft)});
  const auto steps_before = static_cast<std::int64_t>(step_tokens.size());
  for (std::size_t s = 0; s < first.size(); ++s, ++rows) {
    if (!source.wants(prompt[s], repeat[s])) continue;
    samples.push_back({prompt[s],
                       repeat[s],
                       source.run < 0 ? run[s] : source.run,
                       rows,
                       {steps_before + first[s], count[s]}});
  }
  for (std::size_t s = 0; s < first_token.size(); ++s) {
    step_tokens.push_back({tokens + first_token[s], n_tokens[s]});
    step_drafts.push_back({drafts + first_draft[s], n_drafts[s]});
  }
  tokens += file.rows(Table::token);
  drafts += file.rows(Table::draft);
}

void Laid::sort() {
  std::stable_sort(samples.begin(), samples.end(),
                   [](const Sample& a, const Sample& b) { return a.key() < b.key(); });
  samples.erase(std::unique(samples.begin(), samples.end(),
                            [](const Sample& a, const Sample& b) { return a.key() == b.key(); }),
                samples.end());
}

// Adds the columns of a file that are not in the schema and not known yet.
void add_named(const ColumnReader& file, Named& named) {
  for (const auto& [table, columns] : named_of(file)) {
    std::vector<ColumnInfo>& merged = named[table];
    for (const ColumnInfo& column : columns) {
      const bool known = std::any_of(merged.begin(), merged.end(),
                                     [&](const ColumnInfo& c) { return c.name == column.name; });
      if (!known) merged.push_back(column);
    }
  }
}

// Numbers the rows of the merged tables and links them.
void link_rows(const Laid& laid, Merge& merge) {
  auto &first_step = merge.links["sample_first_step"], &n_steps = merge.links["sample_n_steps"],
       &sample_index = merge.links["step_sample_index"];
  auto &first_token = merge.links["step_first_token"], &n_tokens = merge.links["step_n_tokens"],
       &first_draft = merge.links["step_first_draft"], &n_drafts = merge.links["step_n_drafts"];
  auto &step_of_token = merge.links["token_step_index"],
       &step_of_draft = merge.links["draft_step_index"];
  const auto total = [](const std::vector<RowRange>& ranges) {
    std::int64_t sum = 0;
    for (const RowRange& range : ranges) sum += range.count;
    return static_cast<std::size_t>(sum);
  };
  const auto take = [](std::vector<std::int64_t>& rows, const RowRange& range) {
    for (std::int64_t row = range.first; row < range.first + range.count; ++row)
      rows.push_back(row);
  };
  for (auto* of_step :
       {&merge.steps, &sample_index, &first_token, &n_tokens, &first_draft, &n_drafts})
    reserve(*of_step, laid.step_tokens.size());
  for (auto* of_token : {&merge.tokens, &step_of_token})
    reserve(*of_token, total(laid.step_tokens));
  for (auto* of_draft : {&merge.drafts, &step_of_draft})
    reserve(*of_draft, total(laid.step_drafts));
  for (const Laid::Sample& sample : laid.samples) {
    first_step.push_back(static_cast<std::int64_t>(merge.steps.size()));
    n_steps.push_back(sample.steps.count);
    for (std::int64_t s = sample.steps.first; s < sample.steps.first + sample.steps.count; ++s) {
      const RowRange &tokens = laid.step_tokens[s], &drafts = laid.step_drafts[s];
      const auto step = static_cast<std::int64_t>(merge.steps.size());
      sample_index.push_back(static_cast<std::int64_t>(merge.samples.size()));
      first_token.push_back(static_cast<std::int64_t>(merge.tokens.size()));
      n_tokens.push_back(tokens.count);
      first_draft.push_back(static_cast<std::int64_t>(merge.drafts.size()));
      n_drafts.push_back(drafts.count);
      step_of_token.insert(step_of_token.end(), tokens.count, step);
      step_of_draft.insert(step_of_draft.end(), drafts.count, step);
      take(merge.tokens, tokens);
      take(merge.drafts, drafts);
      merge.steps.push_back(s);
    }
    merge.samples.push_back(sample.row);
    merge.runs.push_back(sample.run);
  }
}

// Adds the prompts of a file that are wanted and not there yet.
void add_prompts(const ColumnReader& file, const Merge::Source& source, GivenRows& prompts) {
  for (auto& [key, rows] : given_of(file)) {
    if (!source.wants(key.second, 0)) continue;
    if (source.prompter >= 0)
      for (GivenRow& row : rows) row.run = source.prompter;
    prompts.try_emplace({rows.front().run, key.second}, std::move(rows));
  }
}

}  // namespace

void Merge::plan(const std::function<void(const ColumnReader&, Source&)>& opened) {
  Laid laid;
  for (Source& source : sources) {
    const ColumnReader file(source.path, ColumnReader::Trust::own);
    if (opened) opened(file, source);
    add_named(file, named);
    laid.append(file, source);
    for (PieceRow& piece : pieces_of(file)) {
      if (source.speller >= 0) piece.run = source.speller;
      pieces[{piece.run, piece.token}] = piece;
    }
    add_prompts(file, source, prompts);
  }
  for (auto& [table, columns] : named)
    std::sort(columns.begin(), columns.end(),
              [](const ColumnInfo& a, const ColumnInfo& b) { return a.name < b.name; });
  laid.sort();
  link_rows(laid, *this);
}

// Reads several columns at once, in the new order. Sources are opened anew each time, which costs
// less than to hold hundreds of them open.
std::vector<Merge::Packed> Merge::read(const std::vector<Wanted>& columns, int level) const {
  std::vector<Numbers> numbers;
  std::vector<Values> texts(columns.size(), empty_values(Type::text));
  for (const auto& [table, column] : columns)
    numbers.push_back({column.type == Type::text ? 0 : width(column.type), rows_of(table).size()});
  Stored some;
  for (const Source& source : sources) {
    const ColumnReader file(source.path, ColumnReader::Trust::own);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto& [table, column] = columns[c];
      const bool optional = column.since > 0 || (!named_prefix(table).empty() &&
                                                 column.name.starts_with(named_prefix(table)));
      const bool there = !optional || file.has(column.name);
      if (column.type == Type::text) {
        append(texts[c], there ? file.read(table, column) : absent(column, file.rows(table)), 0,
               file.rows(table));
        continue;
      }
      some.clear();
      if (there)
        file.append_to(some, table, column);
      else
        store(absent(column, file.rows(table)), column.type, some);
      numbers[c].append(some);
    }
  }
  std::vector<Packed> packed;
  // Columns are packed one by one, so that the memory of a packed one is freed.
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto& [table, column] = columns[c];
    const std::vector<std::int64_t>& rows = rows_of(table);
    if (column.type == Type::text) {
      packed.emplace_back(selected(std::exchange(texts[c], {}), rows));
      continue;
    }
    Numbers gathered = std::move(numbers[c]);
    if (is_chunked(column.type, rows.size())) {
      packed.emplace_back(make_chunks(gathered.bytes, column.type, rows, level));
      continue;
    }
    gathered.write_out();
    Values values = empty_values(column.type);
    widen(gathered.bytes, column.type, values);
    packed.emplace_back(selected(values, rows));
  }
  return packed;
}

// Does the same in two processes where the sources are many: HDF5 reads in one thread, and for a
// small file most of the time is its own. A child takes half of the work, and numbers only, and
// leaves them packed in shared memory. What the child cannot read is read here, to say what is
// wrong.
std::vector<Merge::Packed> Merge::gather(const std::vector<Wanted>& columns, int level) const {
  std::vector<Wanted> own, others;
  std::size_t shared = 0, own_work = 0, others_work = 0;
  for (const Wanted& wanted : columns) {
    const bool text = wanted.column.type == Type::text,
               child = sources.size() >= kShared && !text && others_work < own_work;
    const std::size_t rows = rows_of(wanted.table).size();
    (child ? others : own).push_back(wanted);
    (child ? others_work : own_work) += kOpening * sources.size() + (text ? kText : 1) * rows;
    if (child) shared += most_bytes(rows);
  }
  if (shared == 0) return read(columns, level);
  const SharedMemory memory(shared);
  const pid_t child = memory.there() ? ::fork() : -1;
  if (child == 0) {
    try {
      std::byte* to = memory.bytes();
      for (const Packed& column : read(others, level)) to = write_down(column, to);
      ::_exit(0);
    } catch (...) {
      ::_exit(1);
    }
  }
  std::vector<Packed> mine = read(own, level), theirs;
  int status = 1;
  if (child > 0)
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (status != 0) theirs = read(others, level);
  const std::byte* from = memory.bytes();
  for (std::size_t i = 0; status == 0 && i < others.size(); ++i)
    theirs.push_back(read_back(others[i].column.type, rows_of(others[i].table).size(), from));
  std::vector<Packed> gathered;
  for (std::size_t i = 0, m = 0, t = 0; i < columns.size(); ++i) {
    const bool child_had = t < others.size() && others[t].column.name == columns[i].column.name;
    gathered.push_back(std::move(child_had ? theirs[t++] : mine[m++]));
  }
  return gathered;
}

// Writes as many columns at a time as a bounded part of the memory holds.
void Merge::write(ColumnWriter& file) {
  std::vector<Wanted> wanted;
  for (const Table table : {Table::sample, Table::step, Table::token, Table::draft}) {
    file.table(table, static_cast<std::int64_t>(rows_of(table).size()));
    const std::vector<ColumnInfo>& declared = info(table).columns;
    for (std::size_t i = 0; i < declared.size(); ++i) {
      const auto made = links.find(declared[i].name);
      if (static_cast<int>(i) < info(table).links)
        file.column(table, declared[i],
                    made == links.end() ? Values(std::vector<std::int64_t>{})
                                        : Values(std::move(made->second)));
      else if (declared[i].name == "sample_run_index")
        file.column(table, declared[i], runs);
      else
        wanted.push_back({table, declared[i]});
    }
    if (const auto found = named.find(table); found != named.end()) {
      for (const ColumnInfo& column : found->second) wanted.push_back({table, column});
    }
  }
  for (std::size_t first = 0, next = 0; first < wanted.size(); first = next) {
    const auto bytes = [&](std::size_t i) {
      return (wanted[i].column.type == Type::text ? kTextBytes : width(wanted[i].column.type)) *
             rows_of(wanted[i].table).size();
    };
    std::size_t held = bytes(next++);
    while (next < wanted.size() && held + bytes(next) <= kGatheredBytes) held += bytes(next++);
    const std::vector<Wanted> some(wanted.begin() + static_cast<std::ptrdiff_t>(first),
                                   wanted.begin() + static_cast<std::ptrdiff_t>(next));
    const std::vector<Packed> gathered = gather(some, file.level());
    for (std::size_t i = 0; i < some.size(); ++i)
      std::visit([&](const auto& column) { file.column(some[i].table, some[i].column, column); },
                 gathered[i]);
  }
  Columns spelled(Table::piece);
  for (auto [key, piece] : pieces) spelled.add(piece, {});
  file.columns(spelled);
  Columns given(Table::given);
  for (auto& [key, rows] : prompts)
    for (GivenRow& row : rows) given.add(row, {});
  file.columns(given);
}

}  // namespace draftlab
