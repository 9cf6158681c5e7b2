// Reads Hugging Face's tokenizer files. Every component that is not known is refused by its name
// and place.
#pragma once

#include <string>

#include "plugins/tokenizers/byte_level.h"

namespace draftlab {

// Reads tokenizer.json: byte-level BPE with its pre-tokenizer (ByteLevel, Split, Digits and
// sequences of them), normal forms, added tokens and merges (written as "a b" or ["a", "b"]).
// `begin` is what its post_processor puts in front of a text; `mask` and `ends` are set by the
// functions below. Throws DataError naming the file (`name`) and what is wrong.
ByteLevelParts read_tokenizer_json(const std::string& text, const std::string& name);

// Reads vocab.json and merges.txt. `tokenizer_class` says how a text is cut: it is GPT2Tokenizer or
// Qwen2Tokenizer, either with Fast at the end.
ByteLevelParts read_vocabulary_and_merges(const std::string& vocabulary, const std::string& merges,
                                          const std::string& tokenizer_class,
                                          const std::string& name);

// Adds what tokenizer_config.json says: tokens that are not there yet (added_tokens_decoder),
// bos_token where add_bos_token asks for it, mask_token, eos_token.
void read_tokenizer_config(const std::string& text, const std::string& name, ByteLevelParts& parts);
// Returns the tokenizer_class of a tokenizer_config.json, and "GPT2Tokenizer" where it names none.
std::string tokenizer_class(const std::string& tokenizer_config, const std::string& name);

// Adds the token ids of config.json or generation_config.json that no other file has given yet:
// mask_token_id, and eos_token_id (one or several).
void read_token_ids(const std::string& text, const std::string& name, ByteLevelParts& parts);

// Adds what ends a turn of a conversation, where it is an added token, to what ends a text.
void add_turn_ends(ByteLevelParts& parts);

}  // namespace draftlab
