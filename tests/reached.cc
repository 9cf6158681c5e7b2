#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

// Says in the file that tests/mutants/suites.py names how long each case takes, and tells broken
// lines, which write there when they are reached, which case runs.
class Reached final : public doctest::IReporter {
 public:
  explicit Reached(const doctest::ContextOptions&)
      : file_(std::getenv("DRAFTLAB_MUTANTS_REACHED")) {}
  void test_case_start(const doctest::TestCaseData&) override {
    if (!file_) return;
    ++place_;
    ::setenv("DRAFTLAB_MUTANTS_CASE", std::to_string(place_).c_str(), 1);
    began_ = std::chrono::steady_clock::now();
  }
  void test_case_end(const doctest::CurrentTestCaseStats&) override {
    if (!file_) return;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
    std::ofstream(file_, std::ios::app) << "case " << place_ << " " << took.count() << "\n";
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  const char* const file_;
  int place_ = 0;
  std::chrono::steady_clock::time_point began_;
};

REGISTER_LISTENER("reached", 1, Reached);

}  // namespace
