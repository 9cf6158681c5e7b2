"""Every route: what the estimator expects of the drafts, the score, and the decision."""

import math
from typing import Callable, Dict, Optional, Tuple

import numpy as np

from draftlab.recheck.agreement import Agreement, close
from draftlab.recheck.random_numbers import ROUTE, uniform
from draftlab.recheck.record import Sample, Settings, Step

# Numbers of drafts are stored with 12 bits of mantissa.
_ROUNDED = 2.0 ** -12

# The probability that a draft passes, rising or falling in the number that is read.
Alpha = Callable[[Settings, np.ndarray], np.ndarray]


def _width(settings: Settings, key: str) -> float:
    return math.log(settings.number(key, 0) or settings.vocabulary)


def _entropy(settings: Settings, nats: np.ndarray) -> np.ndarray:
    """exp(-beta H / ln V): S2D2, Sec. 4.3."""
    beta = settings.number("estimator.entropy.beta", 1)
    return np.exp(-beta * nats / _width(settings, "estimator.entropy.width"))


def _hard_entropy(settings: Settings, nats: np.ndarray) -> np.ndarray:
    share = nats / _width(settings, "estimator.hard-entropy.width")
    return (share < settings.number("estimator.hard-entropy.threshold", 0.1)).astype(float)


def _hard_margin(settings: Settings, margin: np.ndarray) -> np.ndarray:
    threshold = settings.number("estimator.hard-margin.threshold", 0.05)
    if settings.true("estimator.hard-margin.strict"):
        return (margin > threshold).astype(float)
    return (margin >= threshold).astype(float)


def _clipped_margin(settings: Settings, margin: np.ndarray) -> np.ndarray:
    return np.minimum(1.0, settings.number("estimator.clipped-margin.slope", 1) * margin)


def _confidence(settings: Settings, confidence: np.ndarray) -> np.ndarray:
    return confidence ** settings.number("estimator.confidence.power", 1)


# Each estimator reads one column of the drafts (S2D2, Table 4).
ESTIMATORS: Dict[str, Tuple[str, Alpha]] = {
    "entropy": ("entropy", _entropy), "hard-entropy": ("entropy", _hard_entropy),
    "hard-margin": ("margin", _hard_margin), "clipped-margin": ("margin", _clipped_margin),
    "confidence": ("confidence", _confidence), "renyi2": ("renyi2", lambda _, squares: squares)}


def _expected(alpha: np.ndarray) -> float:
    """The expected accepted prefix: S2D2, Eq. 5."""
    return float(np.cumprod(alpha).sum())


def _bounds(sample: Sample, step: Step) -> Optional[Tuple[float, float]]:
    """Between which two values the expectation lies, given the rounding of what was recorded."""
    name = sample.settings("estimator", "none")
    seen = int(min(step.row["span"], step.row["drafted"]))
    if name == "random":
        first = int(step.drafts["position"][0])
        alpha = np.array([uniform(0, sample.sequence, first, ROUTE, int(step.row["step"]), i + 1)
                          for i in range(seen)])
        return (_expected(alpha), _expected(alpha))
    if name not in ESTIMATORS or seen > step.drafted:
        return None
    column, alpha_of = ESTIMATORS[name]
    values = step.drafts[column][:seen].astype(float)
    if np.isnan(values).any():
        return None
    ends = [_expected(alpha_of(sample.settings, values * (1 + side)))
            for side in (-_ROUNDED, 0, _ROUNDED)]
    return (min(ends), max(ends))


def _estimate(sample: Sample, step: Step, found: Agreement) -> None:
    expected = float(step.row["expected"])
    if np.isnan(expected) or step.drafted == 0:
        return
    bounds = _bounds(sample, step)
    if bounds is None:
        found.cannot(f"expectations of estimator '{sample.settings('estimator')}'")
        return
    found.tell("expected prefixes", close(expected, *bounds, relative=1e-9),
               f"{step.where}: {expected:.9g} is expected, and {bounds[0]:.9g} to "
               f"{bounds[1]:.9g} follow from the drafts")


class _Router:
    """Decides as the router of an arm does, from what it saw; it has the router's memory."""

    def __init__(self, sample: Sample):
        self.settings = sample.settings
        name = self.settings("router")
        explores = name == "explore"
        self.section = f"router.{name}"
        self.epsilon = self.settings.number("router.explore.epsilon", 0.1) if explores else 0.0
        self.name = self.settings("router.explore.of", "min-span") if explores else name
        self.on = self.option("initial", "off") == "on"

    def option(self, key: str, default: str) -> str:
        return self.settings(f"{self.section}.{key}", default)

    def score(self, step: Step) -> Optional[float]:
        """K-hat - c N_hi, or K-hat - c (S2D2, Eq. 6)."""
        cost = float(self.option("cost", "1"))
        if self.option("score", "dynamic") == "static":
            return float(step.row["expected"]) - cost
        preview = step.row.get("preview")
        if preview is None or preview < 0:
            return None
        return float(step.row["expected"]) - cost * float(preview)

    def decides(self, step: Step) -> Optional[bool]:
        score = float(step.row["score"])
        if self.name in ("always", "never"):
            return self.name == "always"
        if self.name == "min-span":
            # What a tree judged may be more than the span, and is recorded in its place.
            beyond = self.settings.true("verifier.chain.all_spans")
            if beyond or self.settings("verifier") == "tree":
                return None
            return bool(step.row["span"] >= int(self.option("span", "2")))
        if self.name == "score":
            reached = score >= float(self.option("threshold", "0"))
            return reached == (self.option("verify", "at-least") == "at-least")
        if self.name == "hysteresis":
            on, off = float(self.option("on", "0")), float(self.option("off", "-1"))
            strict = self.option("strict", "false") == "true"
            turns_on = score > on if strict else score >= on
            self.on = not score < off if self.on else turns_on
            return self.on
        if self.name == "ucb":
            return score > 0 or (score == 0 and self.option("ties_verify", "true") == "true")
        return None


def check_routes(sample: Sample, found: Agreement) -> None:
    router = _Router(sample)
    for step in sample.steps:
        _estimate(sample, step, found)
        if step.row["routed"] == -1:
            continue
        if router.name in ("score", "hysteresis"):
            score = router.score(step)
            if score is None:
                found.cannot("scores whose count of confident drafts the trace does not have")
            else:
                found.tell("scores", close(float(step.row["score"]), score),
                           f"{step.where}: the score is {step.row['score']:.9g}, not {score:.9g}")
        decided = router.decides(step)
        if decided is None:
            found.cannot(f"routes of router '{router.name}'")
            continue
        routed = bool(step.row["routed"])
        propensity = float(step.row["propensity"])
        if router.epsilon > 0 and step.drafted:
            number = uniform(int(sample.settings("run.seed", "1")), sample.sequence,
                             int(step.drafts["position"][0]), ROUTE, int(step.row["step"]))
            flipped = number < router.epsilon
            decided = decided != flipped
            likely = router.epsilon if flipped else 1 - router.epsilon
        else:
            likely = 1.0
        found.tell("routes", routed == decided, f"{step.where}: routed {int(routed)}, and "
                   f"'{router.name}' decides {int(decided)}")
        found.tell("propensities", close(propensity, likely),
                   f"{step.where}: the propensity is {propensity:.9g}, not {likely:.9g}")
