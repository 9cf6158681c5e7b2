"""Python twins of parts that draftlab has in C++: the same decisions, hence the same traces."""

import math

import draftlab as dl


@dl.router("min-span-twin")
class MinSpan:
    """Verify spans of at least `span` tokens."""

    span: int = dl.option(2, low=1, high=4096, help="Shortest span worth verifying, in tokens.")

    def decide(self, step):
        return step.span.length >= self.span


@dl.router("hysteresis-twin")
class Hysteresis:
    """Verify from a score of `on` until one below `off`."""

    score: str = dl.option("dynamic", choices=["dynamic", "static"], help="Eq. 6 of S2D2.")
    cost: float = dl.option(1.0, low=0, high=1e6, help="What verification must give, in tokens.")
    on: float = dl.option(0.0, low=-1e6, high=1e6, help="Turned on by a score of at least this.")
    off: float = dl.option(-1.0, low=-1e6, high=1e6, help="Turned off by a score below this.")
    initial: str = dl.option("off", choices=["off", "on"], help="Where a sequence begins.")
    reads_expected = True

    def __init__(self):
        if self.off > self.on:
            raise dl.ConfigError("off must not be above on")
        self.verifying = self.initial == "on"

    def after(self, score):
        return not score < self.off if self.verifying else score >= self.on

    def decide(self, step):
        score = step.expected - self.cost * (step.preview if self.score == "dynamic" else 1)
        return dl.Route(self.after(score), score)

    def observe(self, canvas, route, verdict):
        self.verifying = self.after(route.score)


@dl.router("ucb-twin")
class Ucb:
    """A contextual bandit on tokens per pass."""

    beta: float = dl.option(1.0, low=0, high=1e6, help="Weight of exploration (Eq. 16).")
    bins: int = dl.option(2, low=1, high=64, help="Bins of span, progress and entropy each.")
    verify_cost: float = dl.option(2.0, low=1e-6, high=1e6, help="Cost of a verified step.")
    skip_cost: float = dl.option(1.0, low=1e-6, high=1e6, help="Cost of any other.")

    def __init__(self):
        self.plays = 0
        self.arms = [[[0, 0.0], [0, 0.0]] for _ in range(self.bins**3)]

    def index(self, arm):
        count, reward = arm
        if count == 0:
            return math.inf
        return reward / count + self.beta * math.sqrt(math.log(self.plays + 1) / count)

    def bin(self, at):
        return min(self.bins - 1, int(min(at, 1.0) * self.bins)) if at > 0 else 0

    def bucket(self, step):
        block = step.block
        span = (step.span.length - 1) / (block.size - 1) if block.size > 1 else 0.0
        progress = (block.size - block.masked) / block.size if block.size > 0 else 0.0
        nats = step.entropy[: step.drafts].mean() if step.drafts > 0 else 0.0
        row = self.bin(span) * self.bins + self.bin(progress)
        return row * self.bins + self.bin(nats / math.log(step.vocabulary))

    def decide(self, step):
        context = self.bucket(step)
        skip, verify = (self.index(arm) for arm in self.arms[context])
        ahead = 0.0 if skip == verify else verify - skip
        return dl.Route(ahead >= 0, ahead, context=context)

    def observe(self, canvas, route, verdict):
        arm = self.arms[route.context][route.verify]
        cost = self.verify_cost if route.verify else self.skip_cost
        arm[0] += 1
        arm[1] += len(verdict.commits) / cost
        self.plays += 1


@dl.estimator("entropy-twin")
class Entropy:
    """A draft passes with probability exp(-beta H / ln V)."""

    beta: float = dl.option(1.0, low=0, high=1e6, help="How fast acceptance falls with entropy.")

    def alpha(self, step):
        scale = -self.beta / math.log(step.vocabulary)
        # The C library's exponential function, as the original has it; numpy's may differ.
        return [math.exp(scale * entropy) for entropy in step.entropy[: step.drafts].tolist()]


@dl.estimator("trajectory-twin")
class Trajectory:
    """A vector draft passes with probability exp(-beta x)."""

    reads: str = dl.option("spread", choices=["spread", "surprise", "deviation"], help="What x is.")
    beta: float = dl.option(1.0, low=0, high=1e6, help="How fast acceptance falls with x.")

    def alpha(self, step):
        numbers = getattr(step, self.reads)[: step.drafts].tolist()
        if self.reads == "deviation":
            numbers = [1 / number for number in numbers]
        return [math.exp(-self.beta * number) for number in numbers]


@dl.drafter("self-twin")
class Self:
    """The target drafts the next k tokens independently in one forward (ASSD, Algorithm 1)."""

    shortcut: bool = dl.option(True, help="Take the first draft as the target's own draw.")
    temperature: float = dl.option(
        -1.0, low=-1, high=100, help="Of tested drafts; -1: the config's."
    )
    asks = ["committed"]

    def propose(self, step):
        positions = step.window[: step.decode.draft_length]
        answer = yield step.ask(positions)
        exact = 1 if self.shortcut else 0
        hotter = None if self.temperature < 0 else self.temperature
        drawn = [law.drawn(None if i < exact else hotter) for i, law in enumerate(answer)]
        tokens = yield step.draw(drawn, positions)
        return dl.Proposal.path(tokens, drawn_from=drawn, raw=answer, exact=exact)


@dl.acceptance("speculative-twin")
class Speculative:
    """The ratio test and the residual distribution."""

    def probability(self, trial):
        return 1.0 if trial.p >= trial.q else self.below_one(trial.p / trial.q)

    @staticmethod
    def below_one(ratio):
        return 1.0 if ratio > 1 - 1e-12 else ratio

    def replacement(self, trial):
        return trial.residual()


@dl.unmasker("threshold-twin")
class Threshold:
    """Drafts more probable than decode.threshold, at least the step's quota."""

    def __init__(self):
        self.block, self.steps = 0, 0

    def left(self, step, proposal, committed=()):
        """(node, confidence), the most confident first and by position among equals."""
        confidence = proposal.numbers("raw")["probability"]
        taken = {commit.position for commit in committed}
        window = set(step.window)
        drafts = [
            (node, p)
            for node, p in zip(proposal.nodes, confidence.tolist())
            if node.position in window and node.position not in taken
        ]
        return sorted(drafts, key=lambda draft: (-draft[1], draft[0].position))

    def sure(self, step, drafts):
        return sum(p > step.decode.threshold for _, p in drafts)

    def quota(self, step):
        size, steps = step.blocks.size, step.decode.steps
        if steps == 0:
            return 1
        first = step.window[0] - (step.window[0] - step.blocks.origin) % size if size else 0
        length = min(step.canvas.length - first, size) if size else step.canvas.length
        made = self.steps if step.block == self.block else 0
        return max(1, length // steps + (made < length % steps))

    def choose(self, step, proposal):
        drafts = self.left(step, proposal)
        count = min(len(drafts), max(self.sure(step, drafts), self.quota(step)))
        return [dl.Commit(node.position, node.token) for node, _ in drafts[:count]]

    def top_up(self, step, proposal, verdict):
        if verdict.why == "unverified":
            return []
        drafts = self.left(step, proposal, verdict.commits)
        owed = self.quota(step) - len(verdict.commits)
        if owed <= 0:
            return []
        count = min(len(drafts), max(self.sure(step, drafts), owed))
        return [dl.Commit(node.position, node.token, "fallback") for node, _ in drafts[:count]]

    def preview(self, step, proposal):
        return self.sure(step, self.left(step, proposal))

    def observe(self, canvas, route, verdict):
        if not verdict.commits:
            return
        position, size = verdict.commits[0].position, self.blocks.size
        block = (position - self.blocks.origin) // size + (self.blocks.origin > 0) if size else 0
        self.steps = self.steps + 1 if block == self.block else 1
        self.block = block


@dl.verifier("chain-twin")
class Chain:
    """One pass over a drafted path; the first rejection is replaced (ASSD, Algorithm 1)."""

    asks = ["chain", "committed"]  # A span of one tested draft asks the root alone.

    def judge(self, step, proposal, acceptance):
        span = min(step.span, len(proposal.nodes))
        path = proposal.nodes[:span]
        exact = min(proposal.exact, span)
        verdict = dl.Verdict(judged=[dl.Judged() for _ in path])
        answer = None
        # A drafter that looks ahead finds its next drafts in the answer, behind each draft.
        behind = exact < span < step.span and proposal.lookahead > 0
        if exact < span:
            nodes = [tuple(node) for node in (path if behind else path[:-1])]
            asks = [
                (i - 1, step.window[i : min(i + max(1, proposal.lookahead), step.span)])
                for i in range(exact, span + behind)
            ]
            answer = yield step.ask(nodes=nodes, asks=asks, kind="verify")
        for i, node in enumerate(path):
            drawn = proposal.drawn_from[i] if proposal.drawn_from else None
            q = drawn[node.token] if drawn else 1.0
            if i < exact:
                verdict.judged[i] = dl.Judged(q, q, 1.0, True, True)
                verdict.commits.append(dl.Commit(node.position, node.token, "accepted"))
                continue
            raw = answer.at(i - 1, node.position)
            target = raw.drawn()
            chance = acceptance.probability(node.token, target, drawn, i, raw)
            accepted = yield step.below(chance, node.position)
            verdict.judged[i] = dl.Judged(target[node.token], q, chance, accepted, True)
            if accepted:
                verdict.commits.append(dl.Commit(node.position, node.token, "accepted"))
                continue
            replacement = acceptance.replacement(node.token, target, drawn, i, raw)
            if replacement is not None:
                token = yield step.draw(replacement, node.position, purpose="residual")
                verdict.commits.append(dl.Commit(node.position, token, "resampled"))
            if proposal.lookahead > 0:
                verdict.carry = (answer, i - 1, int(replacement is not None))
            verdict.why = "wrong_token"
            verdict.judged = verdict.judged[: i + 1]
            return verdict
        if behind:
            verdict.carry = (answer, span - 1, 0)
        verdict.why = step.boundary if span == step.span else "complete"
        return verdict


@dl.frontier("lattice-twin")
class Lattice:
    """Masked positions left to right around any prompt."""

    def next(self, canvas):
        return dl.Window(canvas.masked)


@dl.task("positions-twin")
class Positions:
    """A canvas of which some positions are given."""

    length: int = dl.option(5, low=2, high=64, help="Positions of the canvas.")
    count: int = dl.option(3, low=1, high=100, help="Prompts.")

    def __len__(self):
        return self.count

    def prompt(self, index):
        return dl.Prompt(f"p{index}", self.length, given=[(0, index % 2)])

    def score(self, decoded):
        return {"ones": float((decoded.canvas.tokens == 1).sum())}

    def text(self, decoded):
        return " ".join(map(str, decoded.canvas.tokens))
