"""The census as text, JSON, a table in Markdown, and drafts of reports for maintainers."""

import textwrap
from typing import Any, Dict, List

_HEAD = ("| sampler | repository, commit | function | claim | verdict | TV | smallest "
         "counterexample | controls caught | s | not covered |\n|---|---|---|---|---|---|---|---|"
         "---|---|")


def verdict_text(result: Dict[str, Any]) -> str:
    """Two lines in one: the rule, and what the arithmetic adds."""
    if result["verdict"] == "missing":
        return f"missing: {result['missing']}"
    text = result["verdict"]
    if result["verdict"] == "exact":
        text += f" on {result['walked']} laws"
        if result["drawn"]:
            text += f", {result['drawn']} drawn (TV {result['detectable']:.2g} would show)"
        if result["unseen"]:
            text += f", {result['unseen']} not looked at"
    if result["verdict"] == "crashes":
        text += f": {result['fault']}"
    if result["forbidden"]:
        text += f"; arithmetic: a forbidden token passes, {result['forbidden']:.2g}"
    if result["ends_in"]:
        chance, fault = result["ends_in"]
        text += f"; arithmetic: {fault} at an end of [0, 1), {chance:.2g}"
    return text


def to_text(result: Dict[str, Any]) -> str:
    """A row for the terminal."""
    lines = [f"{result['name']}: {verdict_text(result)}"]
    if result["verdict"] == "missing":
        return lines[0]
    lines.append(f"  source    {result['repository']} {result['commit'][:12]} "
                 f"{result['paths'][0]}, {result['function']}; {result['claim']}")
    if "case" in result:
        lines.append(f"  case      {_case(result)}")
    if "plain" in result:
        lines.append(f"  plain     {plain_text(result)}")
    for name, place, verdict in result["controls"]:
        lines.append(f"  control   {name} ({place}): {verdict}")
    if not result["as_expected"]:
        lines.append(f"  differs   this commit was known as {result['expected']}, its controls as "
                     "caught, and its plain Monte Carlo as agreeing")
    lines.append(f"  not seen  {result['not_covered']}")
    lines.append(f"  seconds   {result['seconds']}")
    return "\n".join(lines)


def plain_text(result: Dict[str, Any]) -> str:
    """What the Monte Carlo counted."""
    plain = result["plain"]
    if "failed" in plain:
        return f"the Monte Carlo counted nothing: {plain['failed']}"
    return (f"{plain['hits']:,} of {plain['draws']:,} draws, {plain['share']:.4f} in "
            f"[{plain['low']:.4f}, {plain['high']:.4f}]; "
            + ("it agrees" if plain["agrees"] else "it does not agree"))


def _case(result: Dict[str, Any]) -> str:
    case = result["case"]
    return (f"V {case['vocabulary']}, k {case['drafts']}, {case['laws']}: {case['event']}, "
            f"TV {case['tv']:.4g}")


def to_markdown(results: List[Dict[str, Any]]) -> str:
    """The table of docs/results/census.md, and its list of what was found."""
    lines = [_HEAD]
    for result in results:
        caught = sum(verdict == "biased" for _, _, verdict in result.get("controls", []))
        controls = result.get("controls", [])
        cells = [f"`{result['name']}`", f"{result['repository']} `{result['commit'][:7]}`",
                 f"`{result['function']}` in `{result['paths'][0]}`", result["claim"],
                 verdict_text(result), f"{result['tv']:.3g}" if result.get("tv") else "",
                 _case(result) if "case" in result else "",
                 f"{caught} of {len(controls)}" if controls else "",
                 str(result.get("seconds", "")), result["not_covered"]]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *(_found(one) for one in results if "case" in one)]).strip()


def _found(result: Dict[str, Any]) -> str:
    """A bias in words, as an item of a list."""
    counted = f" Plain Monte Carlo: {plain_text(result)}." if "plain" in result else ""
    return (f"- **`{result['name']}`** ({result['claim']}). {result['because']} "
            f"{result['case']['event']}.{counted}")


def seeds_text(result: Dict[str, Any]) -> str:
    """A row that was judged with several seeds."""
    if "missing" in result:
        return f"{result['name']}: missing: {result['missing']}"
    return (f"{result['name']}: {_counted(result)}, {result['expected']} expected; "
            f"{result['walked']} laws walked, {result['drawn']} drawn, largest TV "
            f"{result['tv']:.3g}, {result['seconds']} s")


def seeds_markdown(results: List[Dict[str, Any]]) -> str:
    """The table of seeds of docs/results/census.md."""
    lines = ["| sampler | expected | found, seeds | laws walked | laws drawn | largest TV | s |\n"
             "|---|---|---|---|---|---|---|"]
    for result in results:
        if "missing" in result:
            lines.append(f"| `{result['name']}` | {result['expected']} | missing | | | | |")
            continue
        lines.append(f"| `{result['name']}` | {result['expected']} | {_counted(result)} | "
                     f"{result['walked']} | {result['drawn']} | {result['tv']:.3g} | "
                     f"{result['seconds']} |")
    return "\n".join([*lines, "", _alarms(results)])


def _alarms(results: List[Dict[str, Any]]) -> str:
    """How many audits were wrong, of exact rows and of the others."""
    counts = {True: [0, 0], False: [0, 0]}
    for result in results:
        exact = result["expected"] == "exact"
        for verdict, count in result.get("verdicts", {}).items():
            wrong = verdict in ("biased", "crashes") if exact else verdict != result["expected"]
            counts[exact][0] += count
            counts[exact][1] += count * wrong
    return (f"Of {counts[True][0]} audits of exact samplers {counts[True][1]} were a false alarm; "
            f"of {counts[False][0]} audits of biased ones {counts[False][1]} found no bias.")


def _counted(result: Dict[str, Any]) -> str:
    return ", ".join(f"{verdict} {count}" for verdict, count in result["verdicts"].items())


def to_report(result: Dict[str, Any]) -> str:
    """A draft of a report for the maintainers of what is biased."""
    case = result["case"]
    drafts = "1 draft" if case["drafts"] == 1 else f"{case['drafts']} drafts"
    paragraphs = [
        f"# Draft of a report: {result['name']}",
        f"To the maintainers of https://github.com/{result['repository']}. This draft was not "
        "sent.",
        "While checking public samplers against the law that they are meant to keep, we found a "
        f"case in `{result['function']}` (`{result['paths'][0]}`, commit `{result['commit']}`) in "
        "which the tokens do not follow it.",
        f"**The case.** {case['vocabulary']} tokens, {drafts}, with these laws at the empty "
        f"context (p the target's, q the draft's): {case['laws']}. {case['event']}; the total "
        f"variation to the target's law is {case['tv']:.4g}.",
        f"**Why, as far as we can see.** {result['because']}",
        f"**An independent count.** Without our tool: {plain_text(result)} (the interval has 4.4 "
        f"standard errors). `draftlab census {result['name']} --sources DIR --format script` "
        "prints the script, which needs numpy, torch and the file named above.",
        f"**What was not looked at:** {result['not_covered']}.",
        "We may have misunderstood how the function is called; if so, we would be glad to learn "
        "it."]
    return "\n\n".join(textwrap.fill(one, 100, break_long_words=False, break_on_hyphens=False)
                       for one in paragraphs) + "\n"
