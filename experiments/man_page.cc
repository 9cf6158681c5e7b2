#include "experiments/man_page.h"

#include <ostream>

#include "core/trace/provenance.h"
#include "experiments/command/parse.h"
#include "experiments/commands.h"

namespace draftlab {
namespace {

// Writes a text as roff shows it: dashes stay dashes, and no line is taken for a request.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '-')
      result += "\\-";
    else if (c == '\\')
      result += "\\e";
    else
      result += c;
  }
  return !result.empty() && (result[0] == '.' || result[0] == '\'') ? "\\&" + result : result;
}

void print_flag(std::ostream& out, const std::string& flag, const std::string& value,
                const std::string& help) {
  out << ".TP\n\\fB\\-\\-" << escaped(flag) << "\\fR"
      << (value.empty() ? "" : " \\fI" + escaped(value) + "\\fR") << "\n"
      << escaped(help) << "\n";
}

void print_command(std::ostream& out, const Command& command) {
  out << ".SS \"draftlab " << escaped(command.name)
      << (command.arguments.empty() ? "" : " " + escaped(command.arguments)) << "\"\n"
      << escaped(command.summary) << ".\n";
  OptionSet own;
  const RunCommand holds_the_fields = command.flags(own);
  for (const Option& option : own.options())
    print_flag(out, option.name(), option.is_switch() ? "" : "VALUE", option.help());
  if (!command.last.empty())
    print_flag(out, command.last, command.last_arguments, command.last_help);
}

}  // namespace

void print_man_page(std::ostream& out) {
  out << ".TH DRAFTLAB 1 \"\" \"draftlab " << escaped(version()) << "\" \"User Commands\"\n"
      << ".SH NAME\ndraftlab \\- a laboratory for parallel and speculative decoding\n"
      << ".SH SYNOPSIS\n.B draftlab\n.I COMMAND\n[\\fIARGUMENT\\fR]... [\\fB\\-\\-FLAG\\fR "
         "[\\fIVALUE\\fR]]...\n"
      << ".SH DESCRIPTION\nDecodes with methods of parallel and speculative decoding, certifies "
         "which of them are lossless, and compares them. \\fBdraftlab help\\fR \\fITOPIC\\fR "
         "explains a part, a section of a config or a figure, or prints a page of the "
         "documentation.\n"
      << ".SH \"FLAGS OF EVERY COMMAND\"\n";
  for (const CommonFlag& flag : common_flags()) print_flag(out, flag.name, flag.value, flag.help);
  out << ".SH \"FLAGS OF COMMANDS THAT READ A CONFIG\"\n";
  for (const Alias& alias : aliases())
    print_flag(out, alias.flag, alias.value.empty() ? "VALUE" : "", "Sets " + alias.key + ".");
  print_flag(out, "SECTION.KEY", "VALUE", "Sets any key of the config, and beats the file.");
  out << ".SH COMMANDS\n";
  for (const Command& command : commands()) print_command(out, command);
  out << ".SH \"EXIT STATUS\"\n0 where the command did what it was asked. \\fBdraftlab help "
         "exit\\-codes\\fR lists the others.\n"
      << ".SH ENVIRONMENT\n.TP\n.B DRAFTLAB_PYTHON\nThe interpreter of Python files.\n"
         ".TP\n.B DRAFTLAB_INSTRUCTIONS\nThe widest vector instructions that kernels may use: "
         "none, "
         "avx2, avx512.\n"
      << ".SH \"SEE ALSO\"\n\\fBgnuplot\\fR(1), \\fBbwrap\\fR(1)\n";
}

}  // namespace draftlab
