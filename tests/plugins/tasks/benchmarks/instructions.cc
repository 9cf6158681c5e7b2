#include "plugins/tasks/benchmarks/instructions.h"

#include <doctest/doctest.h>

#include "core/base/error.h"

namespace draftlab {
namespace {

using Json = nlohmann::json;

bool ok(const std::string& kind, Json arguments, const std::string& answer) {
  arguments["instruction"] = kind;
  return follows(arguments, answer).value();
}

TEST_CASE("IFEval: each kind of instruction, followed and not") {
  const Json none = Json::object();
  CHECK(ok("keywords:existence", {{"keywords", {"cat", "C++"}}}, "A Cat writes c++."));
  CHECK_FALSE(ok("keywords:existence", {{"keywords", {"cat", "dog"}}}, "A cat."));
  CHECK(ok("keywords:frequency", {{"keyword", "a"}, {"frequency", 2}, {"relation", "at least"}},
           "a A"));
  CHECK_FALSE(ok("keywords:frequency",
                 {{"keyword", "a"}, {"frequency", 2}, {"relation", "less than"}}, "a A"));
  CHECK(ok("keywords:forbidden_words", {{"forbidden_words", {"cat"}}}, "A category."));
  CHECK_FALSE(ok("keywords:forbidden_words", {{"forbidden_words", {"cat"}}}, "A CAT."));
  CHECK(ok("keywords:letter_frequency",
           {{"letter", "e"}, {"let_frequency", 3}, {"let_relation", "at least"}}, "Eee"));
  CHECK(ok("length_constraints:number_sentences", {{"num_sentences", 2}, {"relation", "at least"}},
           "One. Two."));
  CHECK_FALSE(ok("length_constraints:number_sentences",
                 {{"num_sentences", 3}, {"relation", "at least"}}, "One. Two."));
  CHECK(ok("length_constraints:number_paragraphs", {{"num_paragraphs", 2}}, "a\n***\nb"));
  CHECK(ok("length_constraints:number_paragraphs", {{"num_paragraphs", 2}}, "***\na\n***\nb\n***"));
  CHECK_FALSE(
      ok("length_constraints:number_paragraphs", {{"num_paragraphs", 2}}, "a\n***\n***\nb"));
  CHECK(ok("length_constraints:number_words", {{"num_words", 3}, {"relation", "at least"}},
           "it's so"));  // The words are it, s and so.
  CHECK(ok("length_constraints:nth_paragraph_first_word",
           {{"num_paragraphs", 2}, {"nth_paragraph", 2}, {"first_word", "Then"}},
           "First.\n\n\"then, more."));
  CHECK_FALSE(ok("length_constraints:nth_paragraph_first_word",
                 {{"num_paragraphs", 3}, {"nth_paragraph", 2}, {"first_word", "then"}},
                 "First.\n\nthen"));
  CHECK(ok("detectable_content:number_placeholders", {{"num_placeholders", 2}},
           "[name] and [address]"));
  CHECK_FALSE(ok("detectable_content:number_placeholders", {{"num_placeholders", 3}},
                 "[name] and [address]"));
  CHECK(ok("detectable_content:postscript", {{"postscript_marker", "P.P.S"}}, "Hi.\nP. P. S more"));
  CHECK(ok("detectable_content:postscript", {{"postscript_marker", "P.S."}}, "Hi.\np.s. more"));
  CHECK_FALSE(ok("detectable_content:postscript", {{"postscript_marker", "P.S."}}, "Hi. ps"));
  CHECK(ok("detectable_format:number_bullet_lists", {{"num_bullets", 3}}, "* a\n- b\n * c\n** d"));
  CHECK_FALSE(ok("detectable_format:number_bullet_lists", {{"num_bullets", 2}}, "* a\n- b\n- c"));
  CHECK(ok("detectable_format:constrained_response", none, "So: My answer is maybe."));
  CHECK_FALSE(ok("detectable_format:constrained_response", none, "Yes."));
  CHECK(ok("detectable_format:number_highlighted_sections", {{"num_highlights", 2}},
           "*a* and *b c*"));
  CHECK_FALSE(
      ok("detectable_format:number_highlighted_sections", {{"num_highlights", 2}}, "*a* and * *"));
  CHECK(ok("detectable_format:multiple_sections",
           {{"section_spliter", "SECTION"}, {"num_sections", 2}}, "SECTION 1\na\nSECTION 2\nb"));
  CHECK(ok("detectable_format:json_format", none, "```json\n{\"a\": [1]}\n```"));
  CHECK_FALSE(ok("detectable_format:json_format", none, "{a: 1}"));
  CHECK(ok("detectable_format:title", none, "<<A title>>\ntext"));
  CHECK_FALSE(ok("detectable_format:title", none, "<< >> text"));
  CHECK(ok("combination:two_responses", none, "one\n******\ntwo"));
  CHECK_FALSE(ok("combination:two_responses", none, "one\n******\none"));
  CHECK_FALSE(ok("combination:two_responses", none, "one"));
  CHECK(ok("combination:repeat_prompt", {{"prompt_to_repeat", "Say it."}}, "say it. And so."));
  CHECK(ok("startend:end_checker", {{"end_phrase", "The End."}}, "...\nthe end.\" "));
  CHECK_FALSE(ok("startend:end_checker", {{"end_phrase", "The End."}}, "the end. No."));
  CHECK(ok("startend:quotation", none, " \"all\" "));
  CHECK(ok("change_case:english_capital", none, "\xC3\x84 IT IS 1."));
  CHECK_FALSE(ok("change_case:english_capital", none, "IT Is"));
  CHECK(ok("change_case:english_lowercase", none, "it is 1."));
  CHECK_FALSE(ok("change_case:english_lowercase", none, "123"));  // No letter has a case.
  CHECK(ok("change_case:capital_word_frequency",
           {{"capital_frequency", 2}, {"capital_relation", "less than"}}, "ONE two Three"));
  CHECK(ok("punctuation:no_comma", none, "a b"));
  CHECK_FALSE(ok("punctuation:no_comma", none, "a, b"));
  CHECK_FALSE(ok("punctuation:no_comma", none, " \n"));  // Nothing was said.
}

TEST_CASE("IFEval: what cannot be checked, what is unknown, what lacks an argument") {
  CHECK_FALSE(follows({{"instruction", "language:response_language"}, {"language", "de"}}, "ja")
                  .has_value());
  CHECK_THROWS_WITH_AS(follows({{"instruction", "keywords:rhyme"}}, "a"),
                       "IFEval's instruction 'keywords:rhyme' is not known", DataError);
  CHECK_THROWS_WITH_AS(follows({{"instruction", "keywords:frequency"}}, "a"),
                       "IFEval's instruction 'keywords:frequency' has no 'keyword'", DataError);
  CHECK(follows_loosely({{"instruction", "startend:quotation"}}, "Sure:\n\"yes\"") == true);
  CHECK(follows({{"instruction", "startend:quotation"}}, "Sure:\n\"yes\"") == false);
}

}  // namespace
}  // namespace draftlab
