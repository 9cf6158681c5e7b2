# The program's side, which follows peers.py in its interpreter. It reads the program from its
# standard input, runs it as HumanEval's authors do (its name is not `__main__`, and it reads
# nothing), and answers what the judge asks.
import sys


def main():
    program = sys.stdin.buffer.read()
    peer_at = os.dup(1)
    nothing = os.open("/dev/null", os.O_RDWR)
    for standard in (0, 1):
        os.dup2(nothing, standard)
    os.close(nothing)
    space = {}

    def name(text):
        if text not in space:
            raise NameError(f"name '{text}' is not defined")
        return space[text]

    def run(text):
        exec(text, space)

    peer = Peer(peer_at, {**ACTIONS, "name": name, "run": run})
    exec(compile(program, "<program>", "exec"), space)
    peer.send({})
    while True:
        peer.serve(peer.receive())


main()
