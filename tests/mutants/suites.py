"""The suites that look at mutants. A suite is run with every mutant asleep, which says how long its
cases take and which mutants each reaches (tests/reached.cc); a mutant is then looked at by the
cases that reach it, the quickest first, until one fails. What is built alone is looked at by whole
suites. What survives in a folder of AS_USED is looked at by scripts that use the program as its
users do.
"""
import collections
import os
import subprocess
import tempfile
import time
from multiprocessing.pool import ThreadPool

import mutants
import switched
from mutants import BUILD, CHECKOUT, NO_WARNINGS

# The suite of all parts together comes last: its cases reach nearly everything and take long. What
# is labelled otherwise kills processes, or is fed damaged files for minutes.
WHOLE = ("test_core", "test_plugins", "test_experiments", "test_conformance")
# By folder: suites of mutants.py with their cases, the quickest first.
AS_USED = {"experiments/sweep/": (("python", "test_sweep_words.py"), ("sweep", ""))}
SCRIPTS = [script for scripts in AS_USED.values() for script in scripts]
TARGETS = sorted({*WHOLE, *(one for suite, _ in SCRIPTS for one in mutants.SUITES[suite][0])})
LEFT_OUT = "-tse=fuzz,sigkill,page"
LEAST_SECONDS, TIMES_AS_LONG = 20, 10  # What takes longer never ends.
LATE = (124, 137)  # What `timeout` says of a program that ended when asked to, or had to be killed.
MOST_SECONDS = 15  # So long a mutant is looked at by a suite.
SCRIPT_SECONDS = 120  # So long it is looked at by a script.


def run(suite, words, seconds, **variables):
    """The end of what a suite says, and its exit status."""
    program = CHECKOUT / BUILD / "bin" / suite
    command = f"ulimit -v 33554432; timeout -k 5 {seconds} {program} {LEFT_OUT} {words} 2>&1"
    bash = ["bash", "-o", "pipefail", "-c", f"{command} | tail -c 65536"]
    done = subprocess.run(bash, stdout=subprocess.PIPE, env={**os.environ, **variables})
    return done.stdout.decode(errors="replace"), done.returncode


def fails(suite, words, seconds, number):
    """None where the tests pass with a mutant awake, and else the first that does not."""
    said, status = run(
        suite, f"--abort-after=1 {words}", seconds, DRAFTLAB_MUTANT=str(number)
    )
    if status == 0:
        return None
    if status in LATE:
        return "it never ended"
    lines = said.splitlines()
    tests = [line[len("TEST CASE:") :].strip() for line in lines if line.startswith("TEST CASE:")]
    return (tests[-1] if tests else f"{suite} ended with status {status}")[:120]


class Case:
    """A test case of a suite, by its place among those that are not left out."""

    def __init__(self, suite, place):
        self.suite, self.words = suite, f"-f={place} -l={place}"
        self.took, self.reached = 0.0, set()

    def fails(self, number, left):
        seconds = min(left, max(LEAST_SECONDS, TIMES_AS_LONG * self.took))
        return fails(self.suite, self.words, round(seconds), number)


def cases(suite, left):
    """The cases of a suite, the quickest first, and the mutants that one of them reaches at most:
    what a process does once, in an initialiser, others may notice, too."""
    with tempfile.NamedTemporaryFile() as file:
        said, status = run(suite, "", left, DRAFTLAB_MUTANTS_REACHED=file.name)
        lines = [line.split() for line in file.read().decode().splitlines()]
    if status in LATE:
        raise OutOfTime
    if status:
        mutants.wrong(f"{suite} fails before anything is broken: {said[-1000:]}")
    found = {int(words[1]): Case(suite, words[1]) for words in lines if words[0] == "case"}
    times = collections.Counter()
    for words in lines:
        if words[0] == "case":
            found[int(words[1])].took = float(words[2])
            continue
        times[int(words[1])] += 1
        if int(words[0]) in found:
            found[int(words[0])].reached.add(int(words[1]))
    once = {number for number, count in times.items() if count == 1}
    return sorted(found.values(), key=lambda case: case.took), once


def scripts(file):
    """The scripts that use as its users do what stands in a file."""
    return next((those for folder, those in AS_USED.items() if file.startswith(folder)), ())


class OutOfTime(Exception):
    """The minutes are over, and the mutants in hand are not counted."""


class Suites:
    """Builds mutants, and runs the cases that reach them."""

    def __init__(self, jobs, minutes):
        self.jobs = jobs
        self.ends = time.time() + 60 * minutes if minutes else float("inf")
        self.cases = {}

    def left(self, most=3600):
        """The seconds that may pass, at most so many."""
        left = self.ends - time.time()
        if left <= 0:
            raise OutOfTime
        return min(left, most)

    def build(self, suites):
        good, said = mutants.built(suites, self.jobs, self.left(float("inf")))
        self.left()
        return good, said

    def look(self, suite, number):
        """The first test of a suite that notices, if one does, and how many cases looked."""
        looked, taken = 0, 0.0
        its_cases, once = self.cases[suite]
        for case in its_cases:
            if number not in case.reached or taken > MOST_SECONDS:
                continue
            test = case.fails(number, self.left())
            self.left()
            if test:
                return test, looked
            looked, taken = looked + 1, taken + case.took
        if number not in once:
            return None, looked
        test = fails(suite, "", self.whole(suite), number)
        self.left()
        return test, len(its_cases)

    def use(self, script, number):
        """The first complaint of a script, if it has one, with a mutant awake; 0 wakes none."""
        suite, cases_of_suite = script
        seconds = self.left(SCRIPT_SECONDS)
        test = mutants.noticed_by(suite, cases_of_suite, seconds, DRAFTLAB_MUTANT=str(number))
        self.left()
        return test, 1

    def whole(self, suite):
        """The seconds that a whole suite may take."""
        its_cases, _ = self.cases.get(suite, ([], set()))
        return round(self.left(LEAST_SECONDS + 3 * sum(case.took for case in its_cases)))

    def judge(self, drawn):
        """Yields each mutant with what became of it, which test noticed, and after how long."""
        for together in switched.rounds(drawn):
            with Broken() as broken:
                asleep, awkward = self.asleep(broken, list(enumerate(together, 1)))
                yield from self.judge_asleep(asleep)
            for _, mutant in awkward:
                yield (mutant, *taking(self.alone, mutant))

    def judge_asleep(self, numbered):
        """As `judge`, of mutants that are built together."""
        looked, seconds = dict.fromkeys(numbered, 0), dict.fromkeys(numbered, 0.0)

        def judged_by(look, suite, pairs):
            with ThreadPool(self.jobs) as pool:
                work = [(suite, number) for number, _ in pairs]
                results = pool.imap(lambda one: taking(look, *one), work)
                for pair, (test, cases_of_suite, took) in zip(pairs, results):
                    seconds[pair] += took
                    looked[pair] += cases_of_suite
                    if test:
                        yield pair[1], "noticed", test, round(seconds[pair])
                        del looked[pair]

        for suite in WHOLE:
            self.cases[suite] = cases(suite, self.left())
            self.left()
            yield from judged_by(self.look, suite, list(looked))
        for script in SCRIPTS:
            pairs = [pair for pair in looked if script in scripts(pair[1].file)]
            complaint = pairs and self.use(script, 0)[0]
            if complaint:
                mutants.wrong(f"{script} fails before anything is broken: {complaint}")
            yield from judged_by(self.use, script, pairs)
        for pair, count in looked.items():
            yield pair[1], "survived", f"{count} cases looked", round(seconds[pair])

    def asleep(self, broken, numbered):
        """Builds mutants together; those that cannot be are the second of two lists."""
        awkward = []
        while True:
            files = {}
            for pair in numbered:
                files.setdefault(pair[1].file, []).append(pair)
            files = {
                name: switched.File(broken.text_of(name), NO_WARNINGS, pairs)
                for name, pairs in files.items()
            }
            for name, file in files.items():
                broken.write(name, file.text)
            good, said = self.build(["-k", "0", *TARGETS])
            if good:
                return numbered, awkward
            blamed = set()
            for name, lines in switched.lines_with_errors(said, CHECKOUT).items():
                if name in files:
                    blamed |= files[name].blamed(lines)
            if not blamed:
                mutants.wrong(f"the suites do not build: {said[-2000:]}")
            awkward += [pair for pair in numbered if pair[0] in blamed]
            numbered = [pair for pair in numbered if pair[0] not in blamed]
            broken.restore()

    def alone(self, mutant):
        """As `look`, of a mutant that only builds alone, if at all."""
        with Broken() as broken:
            broken.write(mutant.file, NO_WARNINGS.encode() + mutant.broken)
            if not self.build(TARGETS)[0]:
                return "does not build", ""
            for suite in WHOLE:
                test = fails(suite, "", self.whole(suite), 0)
                self.left()
                if test:
                    return "noticed", test
            for script in scripts(mutant.file):
                test = self.use(script, 0)[0]
                if test:
                    return "noticed", test
            return "survived", "every suite looked"


class Broken:
    """Files of the copy that are broken now; on leaving they are whole again."""

    def __init__(self):
        self.whole = {}
        write(CHECKOUT / switched.SWITCH, switched.SWITCH_TEXT.encode())

    def text_of(self, name):
        return self.whole.get(name) or (CHECKOUT / name).read_bytes()

    def write(self, name, text):
        self.whole[name] = self.text_of(name)
        write(CHECKOUT / name, text)

    def restore(self):
        for name, text in self.whole.items():
            write(CHECKOUT / name, text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.restore()


def taking(function, *arguments):
    """What a function returns, and in how many seconds."""
    began = time.time()
    result = function(*arguments)
    return (*result, round(time.time() - began, 1))


def write(file, content):
    """What stands there already keeps its time, so ninja builds nothing."""
    if not file.exists() or file.read_bytes() != content:
        file.write_bytes(content)
