"""`draftlab serve`: what outside clients send is answered as `run` decodes it, and what nobody
could answer is refused in a sentence."""

import http.client
import json
import math
import os
import re
import signal
import socket
import subprocess
import threading
import time

import pytest
from conftest import BINARIES, ROOT

from draftlab.recheck.models.table import Table
from draftlab.recheck.record import Settings
from draftlab.trace import Trace

TOY = """
model = table
task = positions
frontier = left-to-right
drafter = self
[model.table]
kind = joint
vocabulary = 4
length = 6
[task.positions]
length = 6
prompt = 0:1
[decode]
draft_length = 3
"""
STORIES = f"""
model = autoregressive
frontier = left-to-right
drafter = ngram
task = prefix
[task.prefix]
length = 64
count = 4
[model.autoregressive]
checkpoint = {ROOT}/data/checkpoints/stories-ar
[run]
limit = 4
[decode]
temperature = 0.8
"""


class Endpoint:
    """The program, serving a config until the end of a test."""

    def __init__(self, config, *flags, **variables):
        self.process = subprocess.Popen(
            [str(BINARIES / "draftlab"), "serve", str(config), "--port", "0", *flags],
            env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        self.port = int(re.search(r":(\d+)/v1", line)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def request(self, method, path, body=None, **headers):
        """The status and the body of a reply."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        if isinstance(body, dict):
            body = json.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, {"Content-Type": "application/json", **named})
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return reply.status, text

    def complete(self, path="/v1/completions", **body):
        status, text = self.request("POST", path, body)
        assert status == 200, text
        return json.loads(text)

    def refused(self, status, path="/v1/completions", **body):
        found, text = self.request("POST", path, body)
        assert found == status, text
        return json.loads(text)["error"]["message"]

    def stream(self, path="/v1/completions", **body):
        """The events of a stream; the last one is the text [DONE]."""
        status, text = self.request("POST", path, {**body, "stream": True})
        assert status == 200, text
        events = [line[len("data: "):] for line in text.split("\n\n") if line]
        return [json.loads(event) for event in events[:-1]] + events[-1:]


@pytest.fixture
def toy(program):
    with Endpoint(program.write("toy.ini", TOY)) as endpoint:
        yield endpoint


@pytest.fixture
def stories(program):
    path = program.write("stories.ini", STORIES)
    with Endpoint(path) as endpoint:
        endpoint.config = path
        yield endpoint


def test_probabilities_are_those_of_the_joint_law(toy):
    weights = Table(Settings(TOY, 4), "model").joint
    reply = toy.complete(prompt=[1], max_tokens=5, logprobs=2, echo=True, seed=3)
    choice, = reply["choices"]
    tokens = tuple(map(int, choice["text"].split()))
    assert tokens[0] == 1 and len(tokens) == 6
    logs = choice["logprobs"]
    assert logs["token_logprobs"][0] is None
    for i in range(1, 6):
        law = weights[tokens[:i]].reshape(4, -1).sum(1)
        law = law / law.sum()
        assert logs["token_logprobs"][i] == pytest.approx(math.log(law[tokens[i]]), abs=1e-9)
        assert len(logs["top_logprobs"][i]) == 2
        best = max(logs["top_logprobs"][i].values())
        assert best == pytest.approx(math.log(law.max()), abs=1e-9)
    assert reply["usage"] == {"prompt_tokens": 1, "completion_tokens": 5, "total_tokens": 6}
    own = choice["draftlab"]
    assert own["steps"] == len(own["accepted"]) and own["nfe"] > 0
    assert sum(own["accepted"]) + own["steps"] >= 5


def test_a_prompt_of_the_task_is_answered_as_run_decodes_it(program, stories):
    program.ok("run", stories.config, "--run.seed", "5", "--out", "a.h5")
    trace = Trace(f"{program.folder}/a.h5")
    for i in range(4):
        reply = stories.complete(draftlab={"prompt": i}, seed=5)
        choice, = reply["choices"]
        assert choice["text"] == trace["sample_text"][i]
        assert choice["draftlab"]["steps"] == trace["sample_n_steps"][i]


def test_requests_side_by_side_have_the_answers_that_they_have_alone(stories):
    wanted = [{"prompt": f"Once upon a time there was {who}", "max_tokens": 24, "seed": seed,
               "temperature": heat}
              for seed, (who, heat) in enumerate((who, heat) for heat in (0, 0.7, 1.3)
                                                 for who in ("a dog", "a cat", "Lily", "Ben"))]
    alone = [stories.complete(**each)["choices"][0]["text"] for each in wanted]
    assert len(set(alone)) > 6
    together = [None] * 200

    def ask(i):
        together[i] = stories.complete(**wanted[i % len(wanted)])["choices"][0]["text"]

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == [alone[i % len(wanted)] for i in range(200)]


def test_clients_wait_for_their_connection_while_the_endpoint_is_busy(toy):
    toy.process.send_signal(signal.SIGSTOP)  # Nothing is accepted, so the kernel's queue is seen.
    try:
        waiting = [socket.create_connection(("127.0.0.1", toy.port), timeout=2)
                   for _ in range(100)]
    finally:
        toy.process.send_signal(signal.SIGCONT)
    for connection in waiting:
        connection.close()
    assert toy.complete(prompt=[1], max_tokens=5)["choices"]


def test_a_stream_makes_the_text_and_ends_with_its_numbers(stories):
    body = {"prompt": "Once upon a time", "max_tokens": 30, "seed": 1, "n": 2}
    whole = stories.complete(**body)
    *events, done = stories.stream(**body, stream_options={"include_usage": True})
    assert done == "[DONE]" and events[-1]["usage"] == whole["usage"]
    for index in range(2):
        mine = [event["choices"][0] for event in events[:-1]
                if event["choices"][0]["index"] == index]
        assert "".join(each["text"] for each in mine) == whole["choices"][index]["text"]
        assert len(mine) > 5 and mine[-1]["finish_reason"] == "length"
        assert mine[-1]["draftlab"]["nfe"] == whole["choices"][index]["draftlab"]["nfe"]
    assert whole["choices"][0]["text"] != whole["choices"][1]["text"]


def test_a_chat_is_answered_and_streamed(stories):
    chat = "/v1/chat/completions"
    body = {"messages": [{"role": "user", "content": "Once upon a time"}], "max_tokens": 12,
            "seed": 4, "temperature": 0}
    reply = stories.complete(chat, **body, logprobs=True, top_logprobs=1)
    assert reply["object"] == "chat.completion"
    choice, = reply["choices"]
    assert choice["message"]["role"] == "assistant"
    content = choice["logprobs"]["content"]
    spelled = "".join(each["token"] for each in content)
    assert spelled.split() == choice["message"]["content"].split()
    # At temperature 0 every token is the most probable one.
    assert all(each["top_logprobs"][0]["token"] == each["token"] for each in content)
    first, *events, done = stories.stream(chat, **body)
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    pieces = [event["choices"][0]["delta"].get("content", "") for event in events]
    assert "".join(pieces) == choice["message"]["content"]


def test_what_lm_eval_sends_is_answered_with_the_fields_that_it_reads(stories):
    """The fields of lm-evaluation-harness's model local-completions, by its source."""
    tokens = [0, 5, 9, 100, 42, 7]
    reply = stories.complete(model="stories", prompt=[tokens, tokens[:4]], temperature=0,
                             max_tokens=1, logprobs=1, seed=1234, echo=True)
    for choice, known in zip(reply["choices"], (6, 4)):
        logs = choice["logprobs"]
        assert len(logs["token_logprobs"]) == len(logs["top_logprobs"]) == known + 1
        assert all(each < 0 for each in logs["token_logprobs"][1:-1])
        # The token that is decoded at temperature 0 is the most probable one.
        assert logs["token_logprobs"][-1] == max(logs["top_logprobs"][-1].values())
    first, second = (choice["logprobs"]["token_logprobs"] for choice in reply["choices"])
    assert second[1:4] == pytest.approx(first[1:4], abs=1e-5)


def test_what_vllms_load_generator_sends_is_answered_with_the_fields_that_it_reads(stories):
    events = stories.stream(model="stories", prompt="Once upon", repetition_penalty=1.0,
                            max_tokens=8, logprobs=None, stream_options={"include_usage": True},
                            ignore_eos=True)
    assert all(event["choices"][0]["text"] is not None for event in events[:-2])
    assert events[-2]["usage"]["completion_tokens"] == 8
    assert events[-2]["usage"]["prompt_tokens"] > 0


def test_what_guidellm_sends_is_answered_with_the_fields_that_it_reads(stories):
    """Which is what drives the evaluations of speculators, too; by its source, da2c983."""
    assert stories.request("GET", "/health")[0] == 200
    model = json.loads(stories.request("GET", "/v1/models")[1])["data"][0]["id"]
    usage = {"include_usage": True, "continuous_usage_stats": True}
    common = {"model": model, "stream_options": usage, "stop": None, "ignore_eos": True}
    said = [{"role": "user", "content": [{"type": "text", "text": "Once upon"}]}]
    events = stories.stream("/v1/chat/completions", messages=said, max_completion_tokens=8,
                            **common)
    assert events[-2]["usage"]["completion_tokens"] == 8
    events = stories.stream(prompt="Once upon", max_tokens=8, **common)
    pieces = [event["choices"][0].get("text") for event in events[:-1] if event["choices"]]
    assert "".join(pieces) and events[-1] == "[DONE]"
    assert events[-2]["usage"]["completion_tokens"] == 8
    assert events[-2]["usage"]["prompt_tokens"] > 0


def test_a_stop_ends_the_text_before_itself(stories):
    body = {"prompt": "Once upon a time", "max_tokens": 40, "seed": 2}
    whole = stories.complete(**body)["choices"][0]
    word = whole["text"].split()[5]
    cut = stories.complete(**body, stop=[word])["choices"][0]
    assert cut["text"] == whole["text"][:whole["text"].index(word)]
    assert cut["finish_reason"] == "stop" and whole["finish_reason"] == "length"
    assert cut["draftlab"]["nfe"] < whole["draftlab"]["nfe"]


def test_without_a_seed_answers_differ(stories):
    body = {"prompt": "Once upon a time", "max_tokens": 20, "temperature": 1}
    assert len({stories.complete(**body)["choices"][0]["text"] for _ in range(3)}) > 1


def test_a_client_that_leaves_is_forgotten(stories):
    text = json.dumps({"prompt": "Once", "max_tokens": 1000, "stream": True, "n": 8})
    with socket.create_connection(("127.0.0.1", stories.port)) as left:
        left.sendall(f"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: applicatio"
                     f"n/json\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode())
        left.recv(100)
    began = time.time()
    stories.complete(prompt="Once", max_tokens=4)
    assert time.time() - began < 20


def test_what_cannot_be_answered_is_refused_in_a_sentence(stories, toy):
    assert "temperature" in stories.refused(400, prompt="a", temperature=-1)
    assert "knows 4" in toy.refused(400, prompt=[9], max_tokens=5)
    assert "has no tokenizer" in toy.refused(400, prompt="a", max_tokens=5)
    assert "asks for prompt 99" in toy.refused(400, draftlab={"prompt": 99})
    status, text = stories.request("POST", "/v1/completions", "{\"prompt\": ")
    assert status == 400 and "no JSON" in text
    status, text = stories.request("POST", "/v1/completions", "x" * 10_000_000)
    assert status == 413 and "1048576 bytes" in text
    status, text = stories.request("GET", "/v1/nothing")
    assert status == 404 and "/v1/completions" in text
    status, _ = stories.request("POST", "/v1/completions", "{}", Content_Type="text/plain")
    assert status == 415
    status, _ = stories.request("GET", "/v1/models", Host="evil.example")
    assert status == 403
    status, text = stories.request("GET", "/v1/models")
    assert status == 200 and json.loads(text)["data"][0]["id"] == "stories"


def test_too_many_requests_are_told_to_come_again(program):
    config = program.write("toy.ini", TOY)
    with Endpoint(config, "--waiting", "2") as endpoint:
        assert "answers wait already" in endpoint.refused(503, prompt=[1], max_tokens=5, n=3)
        assert endpoint.complete(prompt=[1], max_tokens=5, n=2)["choices"][1]["index"] == 1


def test_an_address_that_others_reach_asks_for_a_token(program):
    config = program.write("toy.ini", TOY)
    with Endpoint(config, "--host", "0.0.0.0") as endpoint:
        shown = endpoint.process.stdout.readline().split()[-1]
        assert len(shown) == 32
        assert endpoint.request("GET", "/v1/models")[0] == 401
        wrong = f"Bearer {shown[:-1]}x"
        assert endpoint.request("GET", "/v1/models", Authorization=wrong)[0] == 401
        assert endpoint.request("GET", "/v1/models", Authorization=f"Bearer {shown}")[0] == 200
        assert endpoint.request("GET", "/health")[0] == 200
    with Endpoint(config, DRAFTLAB_TOKEN="mine") as endpoint:
        assert endpoint.request("GET", "/v1/models")[0] == 401
        assert endpoint.request("GET", "/v1/models", Authorization="Bearer mine")[0] == 200


def test_a_signal_ends_it_when_what_runs_is_answered(program):
    path = program.write("stories.ini", STORIES)
    with Endpoint(path) as endpoint:
        found = []

        def ask():
            found.append(endpoint.complete(prompt="Once", max_tokens=400, ignore_eos=True))

        thread = threading.Thread(target=ask)
        thread.start()
        time.sleep(0.3)
        half_open = socket.create_connection(("127.0.0.1", endpoint.port))
        half_open.sendall(b"POST /v1/completions HTTP/1.1\r\nContent-Le")
        endpoint.process.send_signal(signal.SIGTERM)
        thread.join()
        assert found[0]["usage"]["completion_tokens"] == 400
        assert endpoint.process.wait(30) == 0
        half_open.close()
