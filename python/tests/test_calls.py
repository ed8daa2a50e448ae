"""Calls let others run, listen to signals, keep no memory, and say all that is wrong with what they were given."""

import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import flitwise as fw


def resident() -> int:
    """Memory of this process [bytes]."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


SMALL = """
    [network]
    topology = "router"
    ports = 8
    [[class]]
    name = "A"
    kind = "best-effort"
    rate = 0.002
"""


def test_ten_thousand_solves_leave_no_memory():
    def solve(times):
        for at in range(times):
            fw.solve(SMALL, model="published", set={"class.A.rate": 0.001 + 1e-7 * at})

    solve(1000)
    before = resident()
    solve(10_000)
    grown = resident() - before
    # 100 bytes a solve would be 1 MB; allocators keep some pages
    assert grown < 4e6, f"{grown} bytes"


def test_other_threads_run_while_a_call_computes():
    turns = 0
    done = threading.Event()

    def count():
        nonlocal turns
        while not done.is_set():
            turns += 1
            time.sleep(0.001)

    counting = threading.Thread(target=count)
    counting.start()
    began = time.monotonic()
    fw.simulate("router16", precision=0.001, max_time="1s")
    took = time.monotonic() - began
    done.set()
    counting.join()
    assert turns > 100 * took


def test_calls_of_several_threads_have_consoles_of_their_own():
    wanted = {rate: fw.solve(set={"class.R1.rate": rate}).to_dict() for rate in (0.001, 0.002, 0.003, 0.004)}
    found = {}

    def solve(rate):
        for _ in range(20):
            found.setdefault(rate, []).append(fw.solve(set={"class.R1.rate": rate}).to_dict())

    threads = [threading.Thread(target=solve, args=(rate,)) for rate in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {rate: [answer] * 20 for rate, answer in wanted.items()}


INTERRUPTED = """
    import flitwise as fw
    try:
        fw.{call}
    except KeyboardInterrupt as stopped:
        assert isinstance(stopped, fw.Interrupted)
        print("stopped", stopped.answer is not None and stopped.answer.to_dict()["schema"])
    print(fw.solve().model)
"""


@pytest.mark.parametrize(
    ("call", "schema"),
    [
        ("simulate(precision=0.0001, max_messages=1e11)", "flitwise.simulate/2"),
        ("sweep(over={'class.*.rate': (0.001, 0.002, 1000), 'router.buffer_flits': (8, 57, 50)})", "flitwise.sweep/3"),
        ("compare(precision=0.0001, max_messages=1e11, store=False)", "flitwise.compare/3"),
    ],
)  # fmt: skip
def test_an_interrupt_ends_a_call_soon_with_what_there_is(call, schema, tmp_path):
    code = textwrap.dedent(INTERRUPTED.format(call=call))
    # not from the folder of the sources, which python -c would import
    process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    output, _ = process.communicate(timeout=60)
    assert time.monotonic() - sent < 10
    # the process goes on, and can ask again
    assert output == f"stopped {schema}\nrefined\n"


def test_progress_is_told_and_what_it_raises_ends_the_call():
    told = []
    fw.simulate(precision=0.001, max_messages=2e5, progress=lambda share, words: told.append((share, words)))
    assert told and all(0 <= share <= 1 and words for share, words in told)
    assert [share for share, _ in told] == sorted(share for share, _ in told)

    def refuse(share, words):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        fw.simulate(precision=0.0001, max_messages=1e11, progress=refuse)


def test_all_faults_are_told_at_once():
    with pytest.raises(fw.BadInput) as bad:
        fw.solve("router16", set={"class.R1.rate": -1, "speed": 2, "class.R2.rate": "fast"})
    assert isinstance(bad.value, ValueError)
    assert len(bad.value.faults) == 3
    assert any("--set class.R1.rate=-1: class.R1.rate: found -1, wanted 0, or" in fault for fault in bad.value.faults)

    with pytest.raises(fw.BadInput) as bad:
        mine = {"network": {"topology": None, "ports": float("nan")}, "class": [{"name": object(), 3: 4}]}
        fw.solve(mine, set={"a": object(), 2: 3}, precision={})
    places = [fault.split(": found")[0] for fault in bad.value.faults]
    assert places == ["network.topology", "network.ports", "class[0]", "class[0].name", "set", "set: a", "precision"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fw.solve(5), r"scenario: found 5 \(int\), wanted the name of a preset"),
        (lambda: fw.solve("rooter16"), "did you mean router16"),
        (lambda: fw.solve("nowhere/mine.toml"), "nowhere/mine.toml: cannot be read"),
        (lambda: fw.solve("[network]\ntopology = 'ring'"), r"scenario:2:\d+: network.topology: found"),
        (lambda: fw.solve({"network": {"topology": "router"}}), "scenario:.* network.ports: found nothing"),
        (lambda: fw.solve(sped=1), "unexpected argument '--sped' found"),
        (lambda: fw.solve(model="refind"), "invalid value 'refind' for '--model <MODEL>'"),
        (lambda: fw.solve(set=["a=1"]), "set: found .*wanted a dictionary"),
        (lambda: fw.sweep(over={"class.R1.rate": (1, 2)}), r"over: found class.R1.rate=\(1, 2\), wanted \(first"),
        (lambda: fw.sweep(over={"class.R1.rate": ()}), r"over: found class.R1.rate=\(\), wanted \(first"),
        (lambda: fw.sweep(over={"class.R1.rate": []}), "over class.R1.rate="),
        (lambda: fw.sweep(over={"class.R1.rate": (0.001, 0.002, 10**9)}), "wanted 1 to 1000000 points"),
        (lambda: fw.sweep(over={}), "over: found no axis"),
        (lambda: fw.simulate(precision=-1), "--precision -1: found"),
        (lambda: fw.simulate(progress=5), "progress: found 5, wanted a function"),
        (lambda: fw.max_load(require="R1 miss"), "--require"),
        (lambda: fw.figure("99z"), "found no figure"),
        (lambda: fw.preset("nothing"), 'found no preset "nothing"'),
        (lambda: fw.schema("nothing"), "invalid value 'nothing'"),
        (lambda: fw.station("mm2"), "mm2"),
        (lambda: fw.verify("no-such-claim"), "found no claim of that name"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_words(call, words):
    with pytest.raises(fw.BadInput, match=words) as bad:
        call()
    assert bad.value.faults


def test_failures_of_other_kinds_have_classes_of_their_own(tmp_path):
    with pytest.raises(fw.NothingMeasured) as nothing:
        fw.simulate(max_time="0.000001s")
    assert nothing.value.answer["R1"].network_latency_cycles is None
    with pytest.raises((fw.NotWritten, fw.BadInput), match="nowhere"):
        fw.command("figure", "chain", out="/proc/nowhere")


def test_what_the_command_notes_is_logged(caplog):
    with caplog.at_level(logging.WARNING, logger="flitwise"):
        fw.sweep(
            over={"class.R1.rate": [0.002, 0.004]}, model="anchored", precision=0.2, max_messages=2000, store=False
        )
    assert "anchored: " in caplog.text


def solve_in_a_fork(queue):
    try:
        queue.put(fw.solve().model)
    except RuntimeError as refusal:
        queue.put(str(refusal))


@pytest.mark.filterwarnings("ignore")
def test_a_forked_process_is_refused_a_spawned_one_answers():
    fw.solve()
    answers = {}
    for way in ("fork", "spawn"):
        context = multiprocessing.get_context(way)
        queue = context.Queue()
        process = context.Process(target=solve_in_a_fork, args=(queue,))
        process.start()
        answers[way] = queue.get(timeout=60)
        process.join()
    assert "forked after flitwise had been used" in answers["fork"]
    assert answers["spawn"] == "refined"


def test_a_campaign_is_planned_run_and_watched(tmp_path):
    file, shared = tmp_path / "mine.toml", tmp_path / "shared"
    file.write_text(
        'precision = "20%"\nmax-messages = "2000"\n'
        '[[study]]\nname = "load"\npreset = "router16"\nover = ["class.R1.rate=0.002,0.004"]\n'
    )
    plan = fw.campaign_plan(file)
    assert [block.set[0].value for block in plan.blocks] == ["0.002", "0.004"]
    printed = fw.command("campaign", "run", file, folder=shared)
    assert str(shared / "out/studies/load.csv") in printed.splitlines()
    status = fw.campaign_status(shared)
    assert (status.done, status.left, status.failed) == (2, 0, 0)
    assert "left_seconds" in repr(status)

    key = plan.blocks[0].key
    (shared / "done" / key).unlink()
    (shared / "failed" / key).write_text("it has had enough")
    assert fw.campaign_status(shared).details[0].reason == "it has had enough"
    with pytest.raises(fw.Error, match="1 block has failed"):
        fw.command("campaign", "run", shared)
    # the program of this process is Python, which works off no blocks
    with pytest.raises(fw.BadInput, match="--processes: found a call from within another program"):
        fw.command("campaign", "run", file, folder=tmp_path / "other", processes=2)
