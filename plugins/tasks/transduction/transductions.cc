#include "plugins/tasks/transduction/transductions.h"

#include <vector>

#include "core/prob/chance.h"
#include "plugins/tasks/choices.h"

namespace draftlab {
namespace {

// A noun. Its gender is the vowel with which everything agrees that belongs to the noun.
struct NounWord {
  std::string stem, gender;
};
struct Noun {
  std::string one, many;
  // The first word is chosen most often.
  std::vector<NounWord> words;
  bool animate = false;
};
const std::vector<Noun> kNouns = {
    {"dog", "dogs", {{"sobak", "o"}}, true},
    {"cat", "cats", {{"micur", "a"}, {"felin", "u"}}, true},
    {"horse", "horses", {{"konar", "o"}}, true},
    {"bird", "birds", {{"ptilur", "u"}, {"avek", "a"}}, true},
    {"child", "children", {{"denik", "u"}}, true},
    {"farmer", "farmers", {{"agrun", "o"}, {"polnik", "o"}}, true},
    {"woman", "women", {{"zenar", "a"}}, true},
    {"king", "kings", {{"regul", "o"}, {"kralem", "u"}}, true},
    {"sailor", "sailors", {{"morek", "o"}}, true},
    {"teacher", "teachers", {{"ucil", "a"}, {"dokan", "o"}}, true},
    {"friend", "friends", {{"drugan", "a"}}, true},
    {"thief", "thieves", {{"lopur", "u"}, {"zlodik", "o"}}, true},
    {"house", "houses", {{"domar", "a"}, {"tirel", "u"}}},
    {"river", "rivers", {{"rekan", "a"}}},
    {"apple", "apples", {{"jablum", "u"}}},
    {"stone", "stones", {{"kamil", "o"}, {"petrun", "a"}}},
    {"boat", "boats", {{"lodek", "a"}}},
    {"letter", "letters", {{"pisom", "o"}, {"skriv", "u"}}},
    {"lamp", "lamps", {{"svetul", "u"}}},
    {"garden", "gardens", {{"hortin", "o"}}},
    {"bread", "breads", {{"hlebar", "a"}, {"panil", "o"}}},
    {"tree", "trees", {{"drevok", "o"}}},
    {"bridge", "bridges", {{"mostel", "u"}, {"pontar", "a"}}},
    {"song", "songs", {{"pesnal", "a"}}},
};

struct Word {
  std::string source;
  std::vector<std::string> targets;
};
const std::vector<Word> kAdjectives = {{"small", {"mil", "kus"}},  {"big", {"velk"}},
                                       {"old", {"star", "gamel"}}, {"young", {"jun"}},
                                       {"red", {"rod"}},           {"white", {"bel", "alv"}},
                                       {"black", {"cern"}},        {"quiet", {"tih"}},
                                       {"good", {"dobr", "bun"}},  {"strange", {"cud", "fremd"}},
                                       {"new", {"nov"}},           {"cold", {"hlad"}}};

struct Verb {
  std::string base, third, past;
  std::vector<std::string> stems;
};
const std::vector<Verb> kTransitive = {{"see", "sees", "saw", {"vid", "okar"}},
                                       {"find", "finds", "found", {"nahod"}},
                                       {"love", "loves", "loved", {"lub", "amer"}},
                                       {"carry", "carries", "carried", {"nos"}},
                                       {"paint", "paints", "painted", {"malev"}},
                                       {"buy", "buys", "bought", {"kupil", "mern"}},
                                       {"hide", "hides", "hid", {"skrel"}},
                                       {"follow", "follows", "followed", {"sled"}},
                                       {"build", "builds", "built", {"strog", "faber"}},
                                       {"lose", "loses", "lost", {"tirat"}},
                                       {"hear", "hears", "heard", {"sluh", "audin"}},
                                       {"sell", "sells", "sold", {"prodil"}}};
const std::vector<Verb> kIntransitive = {
    {"sleep", "sleeps", "slept", {"spav", "dorm"}}, {"sing", "sings", "sang", {"pevan"}},
    {"wait", "waits", "waited", {"cekal"}},         {"laugh", "laughs", "laughed", {"smeh", "rid"}},
    {"work", "works", "worked", {"trud"}},          {"run", "runs", "ran", {"begol", "kur"}}};
const std::vector<Verb> kGiving = {{"give", "gives", "gave", {"dav", "hol"}},
                                   {"show", "shows", "showed", {"ukaz"}},
                                   {"send", "sends", "sent", {"poslel", "mit"}}};

const std::vector<Word> kPresentAdverbs = {{"often", {"castim", "gusto"}},
                                           {"here", {"tukal"}},
                                           {"always", {"vsegdim"}},
                                           {"slowly", {"medlem", "lanto"}}};
const std::vector<Word> kPastAdverbs = {
    {"yesterday", {"vceram", "hesko"}}, {"once", {"odnadim"}}, {"slowly", {"medlem", "lanto"}}};
const std::vector<Word> kFutureAdverbs = {
    {"tomorrow", {"zavtem", "manko"}}, {"soon", {"skorim"}}, {"here", {"tukal"}}};
const std::vector<Word> kPrepositions = {{"near", {"bliz"}},
                                         {"behind", {"zadul", "retor"}},
                                         {"under", {"podim"}},
                                         {"with", {"sokam"}},
                                         {"without", {"bezan"}}};
const std::vector<Word> kNumerals = {
    {"two", {"dva"}}, {"three", {"tri"}}, {"four", {"cet"}}, {"many", {"mnog", "lotir"}}};
const std::vector<Word> kSubordinators = {
    {"because", {"nakor"}}, {"when", {"temak", "kogda"}}, {"if", {"sinar"}}};
const std::vector<Word> kCoordinators = {{"and", {"i"}}, {"but", {"nol", "sed"}}};

enum class Tense { present, past, future };
constexpr const char* kTenseEndings[] = {"e", "at", "ovi"};

// A phrase in both languages.
struct Pair {
  std::string source, target;
};

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : " ") + part;
  return text;
}

// Makes one sentence from its top to its words, in both languages at once.
class Translating {
 public:
  explicit Translating(Choices choices) : choices_(choices) {}

  Transduction sentence() {
    const std::size_t kind = choices_.below(8);
    if (kind < 4) return ended(clause(true));
    const Pair first = clause(false), second = clause(false);
    // In the target the dependent clause comes first, with its conjunction behind it.
    if (kind < 6) {
      const Word& word = choices_.of(kSubordinators);
      return ended({joined({first.source, word.source, second.source}),
                    joined({second.target, chosen(word.targets), ",", first.target})});
    }
    const Word& word = choices_.of(kCoordinators);
    return ended({joined({first.source, word.source, second.source}),
                  joined({first.target, chosen(word.targets), second.target})});
  }

 private:
  // A phrase and the features that other words agree with.
  struct NounPhrase : Pair {
    std::string gender;
    bool plural = false;
  };

  static Transduction ended(const Pair& pair) { return {pair.source + " .", pair.target + " ."}; }

  // Returns the first of several words two times in three.
  template <class T>
  const T& chosen(const std::vector<T>& words) {
    if (words.size() == 1 || choices_.below(3) > 0) return words.front();
    return words[1 + choices_.below(words.size() - 1)];
  }

  const Noun& noun(bool animate) {
    while (true) {
      const Noun& noun = choices_.of(kNouns);
      if (!animate || noun.animate) return noun;
    }
  }

  // The source has determiner, numeral, adjectives, noun. The target has noun with its case,
  // adjectives, numeral, determiner; adjectives and determiner agree in gender and number. Two
  // adjectives stand in either order.
  NounPhrase noun_phrase(bool animate, const std::string& case_ending) {
    NounPhrase phrase;
    const Noun& noun = this->noun(animate);
    const NounWord& word = chosen(noun.words);
    phrase.gender = word.gender;
    // The five cases are: the, the, this, a or none, a numeral.
    const std::size_t determined = choices_.below(5);
    phrase.plural = determined == 4 || choices_.below(3) == 0;
    const std::string agreement = word.gender + (phrase.plural ? "s" : "");

    std::string determiner, numeral, determiner_target, numeral_target;
    if (determined < 2)
      determiner = "the", determiner_target = "l" + agreement;
    else if (determined == 2)
      determiner = phrase.plural ? "these" : "this", determiner_target = "t" + agreement;
    else if (determined == 3)
      determiner = phrase.plural ? "" : "a";
    if (determined == 4) {
      const Word& counted = choices_.of(kNumerals);
      numeral = counted.source;
      numeral_target = chosen(counted.targets);
    }
    const std::size_t adjectives = std::vector<std::size_t>{0, 0, 1, 1, 1, 2}[choices_.below(6)];
    std::vector<std::string> said, translated;
    for (std::size_t i = 0; i < adjectives; ++i) {
      const Word& adjective = choices_.of(kAdjectives);
      if (i > 0 && said.front() == adjective.source) break;
      said.push_back(adjective.source);
      translated.push_back(chosen(adjective.targets) + agreement);
    }
    if (translated.size() == 2 && choices_.below(3) > 0) std::swap(translated[0], translated[1]);
    phrase.source =
        joined({determiner, numeral, joined(said), phrase.plural ? noun.many : noun.one});
    phrase.target = joined({word.stem + (phrase.plural ? "i" : "") + case_ending,
                            joined(translated), numeral_target, determiner_target});
    return phrase;
  }

  // Makes the verb, which agrees with its subject: stem, tense, gender, number.
  Pair verb(const std::vector<Verb>& verbs, Tense tense, const NounPhrase& subject) {
    const Verb& verb = choices_.of(verbs);
    const std::string source = tense == Tense::past     ? verb.past
                               : tense == Tense::future ? "will " + verb.base
                               : subject.plural         ? verb.base
                                                        : verb.third;
    return {source, chosen(verb.stems) + kTenseEndings[static_cast<int>(tense)] + subject.gender +
                        (subject.plural ? "s" : "")};
  }

  // The target has [adverb] subject [preposition's phrase] [adverb] [object] verb. An adverb stands
  // in one of two places.
  Pair clause(bool rich) {
    const auto tense = static_cast<Tense>(choices_.below(3));
    NounPhrase subject = noun_phrase(true, "");
    if (rich && choices_.below(4) == 0) relate(subject);
    Pair around, object, action;
    const std::size_t kind = choices_.below(8);
    if (kind < 5) {
      action = verb(kTransitive, tense, subject);
      object = noun_phrase(false, "m");
    } else if (kind < 6 && rich) {
      action = verb(kGiving, tense, subject);
      const NounPhrase given = noun_phrase(false, "m"), receiver = noun_phrase(true, "t");
      object = {given.source + " to " + receiver.source, receiver.target + " " + given.target};
    } else {
      action = verb(kIntransitive, tense, subject);
    }
    if (choices_.below(rich ? 3 : 5) == 0) {
      const Word& word = choices_.of(kPrepositions);
      const NounPhrase phrase = noun_phrase(false, "");
      around = {word.source + " " + phrase.source, phrase.target + " " + chosen(word.targets)};
    }
    Pair adverb;
    bool in_front = false;
    if (choices_.below(2) == 0) {
      const Word& word = choices_.of(tense == Tense::past     ? kPastAdverbs
                                     : tense == Tense::future ? kFutureAdverbs
                                                              : kPresentAdverbs);
      adverb = {word.source, chosen(word.targets)};
      in_front = choices_.below(3) > 0;
    }
    return {joined({subject.source, action.source, object.source, around.source, adverb.source}),
            joined({in_front ? adverb.target : "", subject.target, around.target,
                    in_front ? "" : adverb.target, object.target, action.target})};
  }

  // A relative clause follows its noun in the source and precedes it in the target.
  void relate(NounPhrase& subject) {
    const Pair action = verb(kTransitive, Tense::past, subject);
    const NounPhrase object = noun_phrase(false, "m");
    subject.source += " that " + action.source + " " + object.source;
    subject.target = object.target + " " + action.target + " zan " + subject.target;
  }

  Choices choices_;
};

}  // namespace

Transduction make_transduction(std::uint64_t seed, std::int64_t index, ProblemSplit split) {
  for (std::uint32_t attempt = 0;; ++attempt) {
    Transduction made =
        Translating(Choices(seed, index, 16 + static_cast<std::uint32_t>(split), attempt))
            .sentence();
    if (problem_split_of(made.source) == split) return made;
  }
}

}  // namespace draftlab
