"""llama.cpp: the acceptance of its server, and that of its example of tree drafting, in C++."""

import ctypes

import torch
from draftlab.census import Code, Piece, row

AT = dict(repository="ggml-org/llama.cpp", commit="3f545beccee69d9975f466ec7e45fd9aacd8ba90",
          read_from="ngxson/llama.cpp")
LOOP = Piece("verify", "main", "loop until we fail to accept a drafted token",
             "did not match, or we ran out of drafted tokens")
DRAFTING = Piece("draft", "main", "sample n_draft tokens from the draft model",
                 "evaluate the target model on the drafted tokens")
NOT = "the models and caches; the sampler chain and the grammar; float32, which is double here"


@row("llama.cpp", **AT, function="common_sampler_sample_and_accept_n", expected="exact",
     code=Code("common/sampling.cpp", ("common_sampler_sample_and_accept_n",)),
     controls=(("test reversed", 2),), not_covered=NOT + "; sampling by a backend")
def server(their):
    library = their.compiled("""
        #include <cstdlib>
        #include <vector>
        #define GGML_ASSERT(holds)
        using llama_token = int;
        using llama_tokens = std::vector<int>;
        struct llama_context;
        struct common_sampler { int (*draw)(int); };
        int common_sampler_sample(common_sampler* one, llama_context*, int row, bool) {
          return one->draw(row);
        }
        void common_sampler_accept(common_sampler*, int, bool) {}
        """ + their.common_sampler_sample_and_accept_n + """
        extern "C" int accept(int (*draw)(int), const int* drafts, int count, int* tokens) {
          common_sampler one{draw};
          auto made = common_sampler_sample_and_accept_n(&one, nullptr, {drafts, drafts + count},
                                                         false);
          for (int token : made) *tokens++ = token;
          return made.size();
        }""")
    rows = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)

    def verify(target, drawn_from, drafts):
        count = len(drafts)
        tokens = (ctypes.c_int * (count + 1))()
        made = library.accept(rows(lambda i: int(torch.multinomial(target[i], 1))),
                              (ctypes.c_int * count)(*map(int, drafts)), count, tokens)
        return tokens[:made]
    return verify


@row("llama.cpp-speculative", **AT, function="main of examples/speculative", expected="biased",
     code=Code("examples/speculative/speculative.cpp", (), (LOOP, DRAFTING)), claim="not stated",
     because="A draft is the most probable token of the draft model (data[0] of its sorted "
     "candidates), while the token that its sampler drew is not used. It is verified as if it had "
     "been drawn from the draft model's law: accepted with p / q, and replaced from max(p - q, 0). "
     "Accepting with p, and striking the rejected draft out of p, would be exact, and so would be "
     "drafting the token that was drawn.",
     not_covered=NOT + "; several sequences; filters, after which the two lists of candidates "
     "have other tokens at the same place")
@row("llama.cpp-speculative-rule", **AT, function="main of examples/speculative (verification)",
     code=Code("examples/speculative/speculative.cpp", (), (LOOP,)), expected="exact",
     controls=(("ratio inverted", 0), ("test reversed", 8), ("residual is the target", 1)),
     claim="not stated", not_covered=NOT + "; its drafts (llama.cpp-speculative); several "
     "sequences; filters")
def example(their):
    library = their.compiled("""
        #include <algorithm>
        #include <cstdint>
        #include <random>
        #include <set>
        #include <string>
        #include <vector>
        namespace std { double max(float one, double other) { return max<double>(one, other); } }
        #define float double
        #define GGML_ASSERT(holds)
        #define LOG(...)
        #define LOG_DBG(...)
        using llama_token = int;
        const int LLAMA_TOKEN_NULL = -1;
        struct llama_token_data { int id; float logit, p; };
        struct llama_token_data_array { llama_token_data* data; size_t size; int64_t selected;
                                        bool sorted; };
        struct Rows { const double* laws; int vocabulary; };
        struct common_sampler { std::vector<llama_token_data> all; llama_token_data_array now; };
        int common_sampler_sample(common_sampler* one, Rows* rows, int at, bool = false) {
          one->all.clear();
          for (int i = 0; i < rows->vocabulary; ++i)
            one->all.push_back({i, 0, rows->laws[at * rows->vocabulary + i]});
          std::stable_sort(one->all.begin(), one->all.end(),
                           [](const auto& a, const auto& b) { return a.p > b.p; });
          one->now = {one->all.data(), one->all.size(), 0, true};
          return one->all[0].id;
        }
        auto common_sampler_get_candidates(common_sampler* one, bool) { return &one->now; }
        void common_sampler_accept(common_sampler*, int, bool) {}
        void common_sampler_free(common_sampler*) {}
        common_sampler* common_sampler_clone(common_sampler* one) { return one; }
        std::string common_token_to_piece(Rows*, int) { return ""; }
        bool llama_vocab_is_eog(int, int) { return false; }
        struct Batch { int n_tokens = 0, *n_seq_id, **seq_id; };
        void common_batch_add(Batch& batch, int, int, std::vector<int>, bool) {
          ++batch.n_tokens;
        }
        void llama_memory_seq_rm(int, int, int, int) {}
        void llama_memory_seq_cp(int, int, int, int, int) {}
        int llama_decode(Rows*, Batch) { return 0; }
        struct Draft { bool active = true, drafting = true, skip = false;
          int i_batch_dft = 0; std::vector<int> i_batch_tgt, tokens;
          std::vector<std::vector<llama_token_data>> dists; common_sampler* smpl; };
        struct Random {
          using result_type = uint64_t;
          double (*next)();
          static constexpr uint64_t min() { return 0; }
          static constexpr uint64_t max() { return ~uint64_t(0); }
          uint64_t operator()() { return next() * 18446744073709551616.0; }
        };
        struct { double operator()(Random& rng) { return rng.next(); } } u_dist;
        struct { struct { double temp = 1; } sampling; bool use_color = false; } params;
        const int n_seq_dft = 1, vocab_tgt = 0, mem_dft = 0;
        const double p_draft_split = 1;
        common_sampler one, another;
        int n_predict, n_accept, n_past_tgt, n_past_dft, n_past_cur, n_drafted, n_seq_cur = 1;
        bool has_eos;
        extern "C" int draft(const double* law, int vocabulary) {
          Rows rows{law, vocabulary}, *ctx_dft = &rows;
          Batch batch_tgt, batch_dft;
          const int n_draft = 1;
          std::vector<Draft> drafts(1);
          drafts[0].smpl = &one;
          """ + getattr(their, "draft", "drafts[0].tokens = {0};") + """
          return drafts[0].tokens.back();
        }
        extern "C" int verify(double (*next)(), const double* p, const double* q, int vocabulary,
                              const int* tokens, int count, int* out) {
          Rows target{p, vocabulary}, draft{q, vocabulary}, *ctx_tgt = &target;
          std::vector<Draft> drafts(1);
          for (int i = 0; i <= count; ++i) drafts[0].i_batch_tgt.push_back(i);
          drafts[0].tokens.assign(tokens, tokens + count);
          for (int i = 0; i < count; ++i) {
            common_sampler_sample(&another, &draft, i);
            drafts[0].dists.push_back(another.all);
          }
          Random rng{next};
          std::set<int> active_seqs = {0};
          common_sampler* smpl = &one;
          int s_keep = 0, i_dft = 0, token_id = 0;
          std::string token_str;
          """ + their.verify + """ }
          std::copy(tokens, tokens + i_dft, out);
          out[i_dft] = token_id;
          return i_dft + 1;
        }""")
    number = ctypes.CFUNCTYPE(ctypes.c_double)

    def doubles(laws):
        flat = laws.double().reshape(-1).tolist()
        return (ctypes.c_double * len(flat))(*flat)

    def verify(target, drawn_from, drafts):
        count = len(drafts)
        out = (ctypes.c_int * (count + 1))()
        made = library.verify(number(lambda: float(torch.rand((), dtype=torch.float64))),
                              doubles(target), doubles(drawn_from), target.shape[1],
                              (ctypes.c_int * count)(*map(int, drafts)), count, out)
        return out[:made]

    class Own:
        def draft(self, law, random):
            return library.draft(doubles(torch.as_tensor(law)), len(law)), law

        def verify(self, target, drawn_from, drafts):
            return verify(target, drawn_from, drafts)
    return Own if hasattr(their, "draft") else verify
