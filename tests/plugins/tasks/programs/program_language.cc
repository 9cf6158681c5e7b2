#include "plugins/tasks/programs/program_language.h"

#include <doctest/doctest.h>

#include <limits>

namespace draftlab {
namespace {

using Values = std::vector<ProgramValue>;

ProgramValue list(ProgramList items) { return ProgramValue::of(std::move(items)); }
ProgramValue integer(std::int64_t number) { return ProgramValue::of(number); }

ProgramOutcome outcome(const std::string& text, const Values& arguments = {},
                       const ProgramLimits& limits = {}) {
  const Program program = Program::parse(text);
  REQUIRE_MESSAGE(program.ok(), (text + ": " + program.error()));
  return program.run("f", arguments, limits);
}
// What a run gives, as text: "[1, 2]", or the failure.
std::string result(const std::string& text, const Values& arguments = {}) {
  const ProgramOutcome ended = outcome(text, arguments);
  return ended.ok() ? to_string(ended.value) : to_string(ended.failure);
}
std::string value(const std::string& text) { return result("def f ( ) : return " + text + " end"); }

TEST_CASE("values: precedence and sides as in Python") {
  CHECK(value("2 + 3 * 4") == "14");
  CHECK(value("( 2 + 3 ) * 4") == "20");
  CHECK(value("10 - 4 - 3") == "3");
  CHECK(value("20 // 3 // 2") == "3");
  CHECK(value("2 * 7 % 4") == "2");
  CHECK(value("- 2 * 3") == "-6");
  CHECK(value("- - 2") == "2");
  CHECK(value("1 + 1 == 2") == "1");
  CHECK(value("3 < 3 or 3 <= 3") == "1");
  CHECK(value("1 or 0 and 0") == "1");
  CHECK(value("not 1 == 2") == "1");
  CHECK(value("not 0 and 0") == "0");
  CHECK(value("4 != 4") == "0");
  CHECK(value("5 >= 6") == "0");
  CHECK(value("2 in [ 1 , 2 ]") == "1");
  CHECK(value("not 2 in [ 1 , 2 ]") == "0");
}

TEST_CASE("// and % round down, so that a == a // b * b + a % b") {
  CHECK(value("7 // 2") == "3");
  CHECK(value("- 7 // 2") == "-4");
  CHECK(value("7 // - 2") == "-4");
  CHECK(value("- 7 // - 2") == "3");
  CHECK(value("- 7 % 3") == "2");
  CHECK(value("7 % - 3") == "-2");
  CHECK(value("- 6 % 3") == "0");
}

TEST_CASE("lists, and what is built in") {
  CHECK(value("[ 1 , 2 ] + [ 3 ]") == "[1, 2, 3]");
  CHECK(value("[ ]") == "[]");
  CHECK(value("[ 4 , 5 , 6 ] [ 1 ]") == "5");
  CHECK(value("[ 4 , 5 ] == [ 4 ] + [ 5 ]") == "1");
  CHECK(value("[ 4 ] == 4") == "0");
  CHECK(value("len ( [ 4 , 5 , 6 ] )") == "3");
  CHECK(value("sum ( [ 4 , 5 , 6 ] )") == "15");
  CHECK(value("sum ( [ ] )") == "0");
  CHECK(value("sort ( [ 3 , 1 , 2 ] )") == "[1, 2, 3]");
  CHECK(value("reverse ( [ 3 , 1 , 2 ] )") == "[2, 1, 3]");
  CHECK(value("max ( [ 3 , 9 , 2 ] ) - min ( [ 3 , 9 , 2 ] )") == "7");
  CHECK(value("max ( 3 , 9 , 2 )") == "9");
  CHECK(value("min ( 3 , 9 )") == "3");
  CHECK(value("abs ( - 3 ) + abs ( 3 )") == "6");
  CHECK(value("range ( 3 )") == "[0, 1, 2]");
  CHECK(value("range ( 2 , 5 )") == "[2, 3, 4]");
  CHECK(value("range ( 5 , 2 )") == "[]");
}

TEST_CASE("statements") {
  const std::string sum =
      "def f ( xs ) : t = 0 for x in xs : if x > 3 : t = t + x else : t = t - 1 end end return t "
      "end";
  CHECK(result(sum, {list({1, 4, 5})}) == "8");  // That is -1 + 4 + 5.
  CHECK(result(sum, {list({})}) == "0");
  CHECK(result("def f ( a ) : n = 0 while a > 1 : a = a // 2 n = n + 1 end return n end",
               {integer(20)}) == "4");  // That is 10 5 2 1.
  CHECK(result("def f ( xs ) : for x in xs : if x > 3 : return x end end return 0 end",
               {list({1, 4, 5})}) == "4");
  CHECK(result("def f ( xs ) : for x in xs : xs = [ ] end return x end", {list({1, 4, 5})}) ==
        "5");  // The loop walks the list that it began with.
  CHECK(result("def f(a,b):return a*b end", {integer(6), integer(7)}) ==
        "42");  // White space is free.
  CHECK(result("def f ( a ) :\n\tif a :\r\n return 1\n end\n return 2 end", {integer(0)}) == "2");
}

TEST_CASE("functions call one another and themselves; each sees its own variables") {
  CHECK(result("def g ( a ) : r = a * 10 return r end def f ( a ) : r = 1 g2 = g ( a ) return r + "
               "g2 end",
               {integer(4)}) == "41");
  CHECK(result("def f ( n ) : if n < 2 : return n end return f ( n - 1 ) + f ( n - 2 ) end",
               {integer(10)}) == "55");
  CHECK(result("def max ( a ) : return 7 end def f ( a ) : return max ( a ) end", {integer(1)}) ==
        "7");
}

TEST_CASE("every failure has its name") {
  CHECK(value("1 // 0") == "division");
  CHECK(value("1 % 0") == "division");
  CHECK(value("9223372036854775807 + 1") == "overflow");
  CHECK(value("- 9223372036854775807 - 2") == "overflow");
  CHECK(value("4611686018427387904 * 2") == "overflow");
  CHECK(value("( - 9223372036854775807 - 1 ) // - 1") == "overflow");
  CHECK(value("- ( - 9223372036854775807 - 1 )") == "overflow");
  CHECK(value("abs ( - 9223372036854775807 - 1 )") == "overflow");
  CHECK(value("range ( - 9223372036854775807 , 2 )") == "overflow");
  CHECK(value("[ 1 ] [ 1 ]") == "index");
  CHECK(value("[ 1 ] [ - 1 ]") == "index");
  CHECK(value("[ 1 ] + 1") == "kind");
  CHECK(value("1 + [ 1 ]") == "kind");
  CHECK(value("[ [ 1 ] ]") == "kind");
  CHECK(value("len ( 3 )") == "kind");
  CHECK(value("not [ ]") == "kind");
  CHECK(value("[ 1 ] in [ 1 ]") == "kind");
  CHECK(value("x") == "name");
  CHECK(value("g ( 1 )") == "name");
  CHECK(value("len ( )") == "name");
  CHECK(value("abs ( 1 , 2 )") == "name");
  CHECK(value("max ( [ ] )") == "empty");
  CHECK(result("def f ( ) : a = 1 end") == "no_return");
  CHECK(result("def f ( a ) : return a end") == "name");  // One argument is missing.
  CHECK(result("def g ( ) : return 1 end") == "name");    // There is no f.
  CHECK(value("0 and 1 // 0") == "0");                    // The second operand is not looked at.
  CHECK(value("1 or 1 // 0") == "1");
}

// Each ends by a limit, after no more steps than allowed.
TEST_CASE("limits: endless loops, deep recursion, giant lists") {
  const auto ends = [](const std::string& text, const Values& arguments = {}) {
    const ProgramOutcome ended = outcome(text, arguments);
    CHECK(ended.steps <= ProgramLimits().steps);
    return to_string(ended.failure);
  };
  CHECK(ends("def f ( ) : while 1 : end return 0 end") == "steps");
  CHECK(ends("def f ( ) : while 1 : a = 1 end end") == "steps");
  CHECK(ends("def f ( ) : for x in range ( 1000 ) : for y in range ( 1 ) : for z in range ( 1 ) : "
             "a = sum ( range ( 10 ) ) end end end end") == "steps");
  CHECK(ends("def f ( n ) : return f ( n + 1 ) end", {integer(0)}) == "depth");
  CHECK(ends("def f ( n ) : return g ( n ) end def g ( n ) : return f ( n ) end", {integer(0)}) ==
        "depth");
  CHECK(ends("def f ( ) : return range ( 1000000000 ) end") == "memory");
  CHECK(ends("def f ( ) : return range ( 9223372036854775807 ) end") == "memory");
  CHECK(ends("def f ( ) : a = [ 1 ] while 1 : a = a + a end end") == "memory");
  CHECK(ends("def f ( ) : a = [ ] while 1 : a = a + [ 1 ] end end") ==
        "steps");  // Elements made are steps too.
  CHECK(
      to_string(outcome("def f ( ) : return len ( range ( 100 ) ) end", {}, {20000, 99}).failure) ==
      "memory");
  CHECK(outcome("def f ( ) : return len ( range ( 100 ) ) end", {}, {20000, 100}).ok());
}

TEST_CASE("steps are counted: a statement, its values, a turn of a loop") {
  CHECK(outcome("def f ( ) : return 1 end").steps == 2);
  CHECK(outcome("def f ( ) : return 1 + 2 end").steps == 4);
  CHECK(outcome("def f ( a ) : return a end", {integer(1)}).steps ==
        3);  // One more lays out a variable.
  CHECK(to_string(outcome("def f ( ) : return 1 + 2 end", {}, {3, 100}).failure) == "steps");
}

std::string parse_refusal(const std::string& text) {
  const Program program = Program::parse(text);
  CHECK_FALSE(program.ok());
  CHECK_FALSE(program.run("f", {}).ok());
  CHECK(program.parameters("f").empty());
  return program.error();
}

TEST_CASE("what is no program is refused, with the place") {
  CHECK(parse_refusal("") == "at byte 0: expected 'def'");
  CHECK(parse_refusal("   ") == "at byte 3: expected 'def'");
  CHECK(parse_refusal("def f ( a ) return a end") == "at byte 12: expected ':'");
  CHECK(parse_refusal("def f ( a ) : return a") == "at byte 22: expected a statement");
  CHECK(parse_refusal("def f ( a ) : return end") == "at byte 21: expected a value");
  CHECK(parse_refusal("def f ( a ) : a + 1 end") == "at byte 16: expected '='");
  CHECK(parse_refusal("def f ( ) : return 1 < 2 < 3 end") ==
        "at byte 25: expected no second comparison");
  CHECK(parse_refusal("def f ( ) : return 3x end") == "at byte 20: a letter follows a number");
  CHECK(parse_refusal("def f ( ) : return \"a\" end") == "at byte 19: no sign of the language");
  CHECK(parse_refusal("def f ( ) : return 9223372036854775808 end") ==
        "at byte 19: expected a smaller number");
  CHECK(parse_refusal("def f ( a , a ) : return a end") ==
        "at byte 14: expected parameters of different names");
  CHECK(parse_refusal("def f ( ) : return 1 end end") == "at byte 25: expected 'def'");
  CHECK(parse_refusal("def f ( ) : return 1 end def f ( ) : return 2 end") ==
        "at byte 0: two functions are named f");
  CHECK(parse_refusal("def f ( ) : return 1 end" + std::string(4096, ' ')) ==
        "longer than 4096 bytes");
  CHECK(Program().run("f", {}).failure == ProgramFailure::name);
}

TEST_CASE("nesting is limited: brackets, blocks, and chains of operators") {
  const auto repeated = [](const std::string& text, int count) {
    std::string all;
    while (count-- > 0) all += text;
    return all;
  };
  const auto refused = [](const std::string& text) {
    return parse_refusal(text).ends_with(": expected less nesting");
  };
  CHECK(refused("def f ( ) : return " + repeated("( ", 900) + "1"));
  CHECK(refused("def f ( ) : return " + repeated("[ ", 900) + "1"));
  CHECK(refused("def f ( ) : return " + repeated("- ", 900) + "1 end"));
  CHECK(refused("def f ( ) : return " + repeated("not ", 900) + "1 end"));
  CHECK(refused("def f ( ) : return " + repeated("1 + ", 900) + "1 end"));
  CHECK(refused("def f ( ) : return a" + repeated(" [ 0 ]", 600) + " end"));
  CHECK(refused("def f ( ) : " + repeated("if 1 : ", 500)));
  CHECK(refused("def f ( ) : return " + repeated("abs ( ", 500)));
  CHECK(value(repeated("1 + ", 50) + "1") == "51");
  CHECK(value(repeated("( ", 50) + "1" + repeated(" )", 50)) == "1");
  CHECK(result("def f ( ) : " + repeated("a = 1 ", 600) + "return a end") ==
        "1");  // Long is not deep.
}

}  // namespace
}  // namespace draftlab
