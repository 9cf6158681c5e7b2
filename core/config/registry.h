// The names of plugins of one kind: which plugins there are, how each is configured and how it is
// made.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/config/options.h"
#include "core/config/plugin_file.h"
#include "core/loop/arm.h"
#include "core/parts/task.h"

namespace draftlab {

struct NoOptions {
  void declare(OptionSet&) {}
};

namespace detail {
template <class T>
struct OptionsOf {
  using type = NoOptions;
};
template <class T>
requires requires { typename T::Options; }
struct OptionsOf<T> {
  using type = typename T::Options;
};

// Whether a part that learns (it overrides `observe`) also says what it has learnt (`state`).
template <class T>
constexpr bool states_what_it_learns() {
  if constexpr (std::is_base_of_v<Part, T>) {
    constexpr bool learns = !std::is_same_v<decltype(&T::observe), decltype(&Part::observe)>;
    constexpr bool says = !std::is_same_v<decltype(&T::state), decltype(&Part::state)>;
    return !learns || says;
  }
  return true;
}
}  // namespace detail

// A plugin whose options have been read: a factory, whose values stand in the order of declaration.
template <class Interface>
struct Bound : Factory<Interface> {
  // The files that the plugin, and what it wraps, were loaded from; none for those of this tree.
  std::vector<std::shared_ptr<const PluginFile>> files = {};
};

// What a list of plugins says of one.
struct Listing {
  std::string name, summary;
  std::string source;  // The place that is shown.
  // For models: the forms of questions that are answered in one evaluation.
  std::vector<Form> forms = {};
};

template <class Interface>
class Registry {
 public:
  struct Entry : Listing {
    // What --plugin named; empty for the plugins of draftlab's own tree.
    std::string plugin;
    // Declares the options with their defaults, and calls back while they exist.
    std::function<void(OptionSet&, const std::function<void()>&)> with_options;
    std::function<Bound<Interface>(const Config&, const std::string& section, Diagnostics&,
                                   const Registry*)>
        reads;
    // The file that the plugin was loaded from; null for one of this tree.
    std::shared_ptr<const PluginFile> file = nullptr;

    // Reads the options of the plugin. `others` is where a plugin that wraps another of its kind
    // finds it.
    Bound<Interface> bind(const Config& config, const std::string& section,
                          Diagnostics& diagnostics, const Registry* others = nullptr) const {
      Bound<Interface> bound = reads(config, section, diagnostics, others);
      if (bound.plugin.empty()) bound.plugin = plugin;
      if (file) bound.files.push_back(file);
      return bound;
    }
  };

  explicit Registry(std::string kind) : kind_(std::move(kind)) {}

  // Adds a plugin that is made by T(const T::Options&), or by T() where it has no options. A name
  // that is used twice is a Fault.
  template <class T>
  void add(std::string name, std::string summary, std::vector<Form> forms = {}) {
    static_assert(detail::states_what_it_learns<T>(),
                  "a part that overrides observe() must override state()");
    using Options = typename detail::OptionsOf<T>::type;
    add_with<Options>(std::move(name), std::move(summary), std::move(forms),
                      [](const Options& options) -> std::unique_ptr<Interface> {
                        if constexpr (std::is_same_v<Options, NoOptions>)
                          return std::make_unique<T>();
                        else
                          return std::make_unique<T>(options);
                      });
  }

  // Does the same where making an instance is more than a constructor call (a module is loaded
  // first, for instance).
  template <class Options, class Make>
  void add_with(std::string name, std::string summary, std::vector<Form> forms, Make make) {
    add_made(
        {std::move(name), std::move(summary), source_, std::move(forms)}, [] { return Options(); },
        std::move(make));
  }

  // Adds a plugin that is made elsewhere, whose options are known at run time only. `defaults()`
  // returns its options, which `declare` adds to a set, and `make` turns them into an instance.
  template <class Defaults, class Make>
  void add_made(Listing listing, Defaults defaults, Make make) {
    Entry entry{std::move(listing), plugin_, {}, {}, file_};
    entry.with_options = [defaults](OptionSet& set, const std::function<void()>& use) {
      auto options = defaults();
      options.declare(set);
      use();
    };
    entry.reads = [name = entry.name, defaults, make](const Config& config,
                                                      const std::string& section,
                                                      Diagnostics& diagnostics, const Registry*) {
      using Options = std::invoke_result_t<const Defaults&>;
      const std::shared_ptr<Options> options(new Options(defaults()));
      OptionSet set;
      options->declare(set);
      set.read(config, section, diagnostics);
      Bound<Interface> bound{{name, {}, [options, make] { return make(*options); }}};
      for (const Option& option : set.options())
        bound.values.emplace_back(option.name(), option.value());
      return bound;
    };
    insert(std::move(entry));
  }

  // Adds a plugin that wraps another of its kind, named by T::Options::of. It is made by T(const
  // T::Options&, std::unique_ptr<Interface>). The options of both stand in one section.
  template <class T>
  void add_around(std::string name, std::string summary) {
    using Options = typename T::Options;
    Entry entry{{name, std::move(summary), source_}, plugin_, {}, {}, file_};
    entry.with_options = [](OptionSet& set, const std::function<void()>& use) {
      Options options;
      options.declare(set);
      use();
    };
    entry.reads = [name, kind = kind_](const Config& config, const std::string& section,
                                       Diagnostics& diagnostics, const Registry* others) {
      auto options = std::make_shared<Options>();
      OptionSet set;
      options->declare(set);
      Config own, rest;
      for (const Config::Entry* const one : config.section(section)) {
        const bool is_own = std::any_of(
            set.options().begin(), set.options().end(),
            [&](const Option& option) { return one->key == section + "." + option.name(); });
        (is_own ? own : rest).set(*one);
      }
      set.read(own, section, diagnostics);
      Bound<Interface> bound{{name, {}, {}}};
      for (const Option& option : set.options())
        bound.values.emplace_back(option.name(), option.value());
      const Entry* const inner =
          others && options->of != name ? others->find(options->of) : nullptr;
      if (!inner) {
        const Config::Entry* const place = config.find(section + ".of");
        diagnostics.add("{}: of = {} is no other {}", place ? place->where : section, options->of,
                        kind);
        return bound;
      }
      const Bound<Interface> wrapped = inner->bind(rest, section, diagnostics, others);
      bound.values.insert(bound.values.end(), wrapped.values.begin(), wrapped.values.end());
      bound.plugin = wrapped.plugin;  // What is wrapped decides.
      bound.files = wrapped.files;
      bound.make = [options, make = wrapped.make]() -> std::unique_ptr<Interface> {
        return std::make_unique<T>(*options, make());
      };
      return bound;
    };
    insert(std::move(entry));
  }

  const std::string& kind() const { return kind_; }
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(const std::string& name) const {
    for (const Entry& entry : entries_)
      if (entry.name == name) return &entry;
    return nullptr;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Entry& entry : entries_) names.push_back(entry.name);
    return names;
  }
  // Sets the source file of the plugins that are added next. It is shown from the folder `plugins`
  // on where it lies below one.
  void set_source(const std::string& file) {
    const auto from = file.find("plugins/");
    source_ = from == std::string::npos ? file : file.substr(from);
  }
  // Sets what --plugin named, of which the plugins that are added next are; "" for draftlab's own.
  void set_plugin(const std::string& plugin) { plugin_ = plugin; }
  // Sets the file that the plugins which are added next are loaded from; null for this tree.
  void set_file(std::shared_ptr<const PluginFile> file) { file_ = std::move(file); }

 private:
  void insert(Entry entry) {
    if (const Entry* const first = find(entry.name))
      throw Fault("{} '{}' is registered twice, by {} and by {}", kind_, entry.name, first->source,
                  entry.source);
    entries_.push_back(std::move(entry));
  }
  std::string kind_, source_, plugin_;
  std::shared_ptr<const PluginFile> file_;
  std::vector<Entry> entries_;
};

}  // namespace draftlab
