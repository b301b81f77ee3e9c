from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import psutil
import pytest

from regreen.platform import processes, proctable

PYTHON = sys.executable


@pytest.fixture(autouse=True)
async def nothing_is_left() -> AsyncIterator[None]:
    yield
    assert processes.alive() == frozenset()


def script(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(text))
    return path


def carriers(mark: str) -> set[int]:
    return proctable.marked(mark, proctable.table())


def gone(process: psutil.Process) -> bool:
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


HIDING = """
    import os, sys, time

    def child():
        time.sleep(3600)

    if os.fork() == 0:             # same group
        child()
    if os.fork() == 0:             # own group
        os.setpgid(0, 0)
        child()
    if os.fork() == 0:             # own session
        os.setsid()
        child()
    if os.fork() == 0:             # a daemon: own session, parent gone
        os.setsid()
        if os.fork() == 0:
            child()
        os._exit(0)
    os.wait()
    print("ready", flush=True)
    time.sleep(0 if "leave" in sys.argv else 3600)
"""


async def test_kill_tree_ends_children_that_left_the_group_the_session_and_the_parent(tmp_path: Path) -> None:
    process = await processes.start([PYTHON, script(tmp_path, HIDING)], stdout=True)
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    assert len(carriers(process.mark)) == 5
    await process.kill_tree()
    assert carriers(process.mark) == set()
    assert process.returncode == -9
    assert await process.wait() == -9


async def test_kill_tree_ends_what_a_process_left_behind_when_it_ended(tmp_path: Path) -> None:
    process = await processes.start([PYTHON, script(tmp_path, HIDING), "leave"], stdout=True)
    assert await process.wait() == 0
    assert len(carriers(process.mark)) == 4
    await process.kill_tree()
    assert carriers(process.mark) == set()


async def test_kill_tree_ends_a_child_with_an_empty_environment(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        """
        import subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], env={}, start_new_session=True)
        print(child.pid, flush=True)
        time.sleep(3600)
        """,
    )
    process = await processes.start([PYTHON, path], stdout=True)
    assert process.stdout is not None
    child = psutil.Process(int(await process.stdout.readline()))
    await process.kill_tree()
    assert gone(child)


async def test_kill_tree_finishes_although_its_task_is_cancelled(tmp_path: Path) -> None:
    process = await processes.start([PYTHON, script(tmp_path, HIDING)], stdout=True)
    assert process.stdout is not None
    await process.stdout.readline()
    task = asyncio.create_task(process.kill_tree())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert carriers(process.mark) == set()


async def test_kill_branch_spares_the_rest_of_the_tree(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        """
        import os, time
        pids = []
        for _ in range(2):
            pid = os.fork()
            if pid == 0:
                os.setpgid(0, 0)
                if os.fork() == 0:
                    os.setsid()
                time.sleep(3600)
            pids.append(pid)
        print(*pids, flush=True)
        time.sleep(3600)
        """,
    )
    process = await processes.start([PYTHON, path], stdout=True)
    assert process.stdout is not None
    first, second = map(int, (await process.stdout.readline()).split())
    while len(carriers(process.mark)) != 5:  # noqa: ASYNC110 — nothing signals that the grandchildren are there
        await asyncio.sleep(0.01)
    await process.kill_branch(first)
    left = carriers(process.mark)
    assert len(left) == 3
    assert {process.pid, second} < left
    await process.kill_tree()


async def test_kill_strays_ends_daemons_but_neither_the_process_nor_its_children(tmp_path: Path) -> None:
    process = await processes.start([PYTHON, script(tmp_path, HIDING)], stdout=True)
    assert process.stdout is not None
    await process.stdout.readline()
    children = {child.pid for child in psutil.Process(process.pid).children() if not gone(child)}
    assert len(children) == 3
    assert len(carriers(process.mark)) == 5
    await process.kill_strays()
    assert carriers(process.mark) == {process.pid, *children}
    await process.kill_tree()


async def test_kill_branch_leaves_a_stranger_with_that_id_alone() -> None:
    stranger = await processes.start([PYTHON, "-c", "import time; time.sleep(3600)"])
    process = await processes.start([PYTHON, "-c", "import time; time.sleep(3600)"])
    await process.kill_branch(stranger.pid)
    assert stranger.returncode is None
    await process.kill_tree()
    assert stranger.returncode is None
    await stranger.kill_tree()


def test_a_reused_leader_id_is_a_stranger() -> None:
    rows = {7: proctable.Row(7, 1, 7, 7), 8: proctable.Row(8, 7, 7, 7)}
    assert proctable.whole_tree(7, "none", rows, ended=True) == set()
    assert proctable.whole_tree(7, "none", rows) == {7, 8}
    del rows[7]
    assert proctable.whole_tree(7, "none", rows, ended=True) == {8}


async def test_ps_finds_the_same_tree_where_there_is_no_proc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = await processes.start([PYTHON, script(tmp_path, HIDING)], stdout=True)
    assert process.stdout is not None
    await process.stdout.readline()
    everything = carriers(process.mark)
    monkeypatch.setattr(proctable, "PROC", tmp_path / "nowhere")
    rows = proctable.table()
    found = proctable.whole_tree(process.pid, process.mark, rows)
    assert {process.pid} < found < everything
    assert len(everything - found) == 1  # only the daemon hides from ps
    monkeypatch.undo()
    await process.kill_tree()


async def test_a_process_name_with_parentheses_and_spaces_is_read_right(tmp_path: Path) -> None:
    odd = tmp_path / "a) S 1 (b"
    odd.symlink_to("/bin/sleep")
    process = await processes.start([odd, "3600"])
    row = proctable.table()[process.pid]
    assert row == proctable.Row(process.pid, os.getpid(), process.pid, process.pid)
    await process.kill_tree()


async def test_neither_wait_nor_the_stream_wait_for_children_that_hold_the_pipes(tmp_path: Path) -> None:
    process = await processes.start([PYTHON, script(tmp_path, HIDING), "leave"], stdout=True)
    assert process.stdout is not None
    assert await asyncio.wait_for(process.wait(), 60) == 0
    assert await asyncio.wait_for(process.stdout.read(), 60) == b"ready\n"
    assert carriers(process.mark)
    await process.kill_tree()


async def test_talks_over_pipes_and_ends_at_the_end_of_input() -> None:
    code = "import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)"
    process = await processes.start([PYTHON, "-c", code], stdin=True, stdout=True)
    assert process.stdout is not None
    process.write(b"hello\n")
    assert await process.stdout.readline() == b"HELLO\n"
    process.close_stdin()
    assert await process.wait() == 0
    process.write(b"nobody is there\n")
    await process.kill_tree()


async def test_a_line_of_megabytes_arrives_whole() -> None:
    process = await processes.start([PYTHON, "-c", "print('x' * 5_000_000)"], stdout=True)
    assert process.stdout is not None
    assert len(await process.stdout.readline()) == 5_000_001
    await process.kill_tree()


async def test_stderr_is_kept_as_a_bounded_tail() -> None:
    code = "import sys; sys.stderr.write('x' * 500_000 + 'the end')"
    process = await processes.start([PYTHON, "-c", code])
    assert await process.wait() == 0
    await process.drained()
    tail = process.stderr_tail()
    assert tail.endswith("xthe end")
    assert len(tail) == processes.STDERR_TAIL
    await process.kill_tree()


async def test_the_tail_can_begin_where_something_began() -> None:
    code = "import sys\nfor line in sys.stdin: sys.stderr.write(line); sys.stderr.flush()"
    process = await processes.start([PYTHON, "-c", code], stdin=True)
    for text in ("x" * 20_000, "one", "two"):
        since = process.stderr_written
        process.write(text.encode() + b"\n")
        while process.stderr_written < since + len(text) + 1:  # noqa: ASYNC110 — nothing signals it
            await asyncio.sleep(0.01)
    assert process.stderr_tail(since) == "two\n"
    assert process.stderr_tail(since - 4) == "one\ntwo\n"
    assert len(process.stderr_tail()) == processes.STDERR_TAIL
    assert process.stderr_tail(process.stderr_written) == ""
    await process.kill_tree()


async def test_niceness_lowers_the_priority() -> None:
    process = await processes.start([PYTHON, "-c", "import time; time.sleep(3600)"], nice=7)
    assert os.getpriority(os.PRIO_PROCESS, process.pid) == os.getpriority(os.PRIO_PROCESS, 0) + 7
    await process.kill_tree()


async def test_a_program_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await processes.start([tmp_path / "nothing"])


async def test_capture_gives_code_stdout_and_stderr() -> None:
    code = "import sys; print(sys.stdin.read()); sys.stderr.write('err'); sys.exit(3)"
    captured = await processes.capture([PYTHON, "-c", code], stdin=b"in")
    assert captured == processes.Captured(3, b"in\n", "err")


async def test_capture_has_the_given_folder_and_environment(tmp_path: Path) -> None:
    code = "import os; print(os.getcwd(), os.environ['A'], 'HOME' in os.environ)"
    captured = await processes.capture([PYTHON, "-c", code], cwd=tmp_path, env={"A": "b"})
    assert captured.stdout.decode().split() == [str(tmp_path), "b", "False"]


async def test_capture_ends_at_its_deadline_with_everything_it_started(tmp_path: Path) -> None:
    seen: list[processes.Process] = []

    async def watch() -> None:
        while not processes.alive():  # noqa: ASYNC110 — the start is inside capture
            await asyncio.sleep(0.01)
        seen.extend(processes.alive())

    captured, _ = await asyncio.gather(
        processes.capture([PYTHON, script(tmp_path, HIDING)], seconds=1.0), watch()
    )
    assert captured.code is None
    assert captured.stdout in (b"ready\n", b"")
    assert carriers(seen[0].mark) == set()


async def test_capture_does_not_wait_for_a_daemon_that_keeps_the_pipe(tmp_path: Path) -> None:
    captured = await processes.capture([PYTHON, script(tmp_path, HIDING), "leave"], seconds=3600)
    assert captured.code == 0
    assert captured.stdout == b"ready\n"


async def test_cancelling_a_capture_leaves_nothing(tmp_path: Path) -> None:
    task = asyncio.create_task(processes.capture([PYTHON, script(tmp_path, HIDING)], seconds=3600))
    while not processes.alive():  # noqa: ASYNC110 — the start is inside capture
        await asyncio.sleep(0.01)
    (process,) = processes.alive()
    while len(carriers(process.mark)) < 5:  # noqa: ASYNC110 — nothing signals it
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert carriers(process.mark) == set()


def test_kill_all_before_os_exit_leaves_nothing(tmp_path: Path) -> None:
    hiding = script(tmp_path, HIDING)
    code = textwrap.dedent(f"""
        import asyncio, os
        from regreen.platform import processes
        async def main():
            process = await processes.start([{PYTHON!r}, {str(hiding)!r}], stdout=True)
            await process.stdout.readline()
            print(process.mark, flush=True)
            processes.kill_all()
            os._exit(5)
        asyncio.run(main())
    """)
    done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 5, done.stderr
    assert carriers(done.stdout.strip()) == set()


def test_what_a_kill_found_once_stays_a_target_when_its_parent_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    child = subprocess.Popen([PYTHON, "-c", "import time; time.sleep(3600)"], start_new_session=True)
    calls, sent = 0, 0
    kill = os.kill

    def find(rows: Mapping[int, proctable.Row]) -> set[int]:
        nonlocal calls
        calls += 1
        return {child.pid} & rows.keys() if calls == 1 else set()

    def first_is_lost(pid: int, number: int) -> None:
        nonlocal sent
        sent += 1
        if sent > 1:
            kill(pid, number)

    monkeypatch.setattr(os, "kill", first_is_lost)
    try:
        assert proctable.kill(find) == frozenset()
        assert child.poll() == -9
    finally:
        child.kill()
        child.wait()


def test_a_kill_gives_up_after_its_time_and_says_what_is_left() -> None:
    nobody = 2**22 + 1  # above the largest id Linux gives out
    assert proctable.kill(lambda _: {nobody}, seconds=0.05) == frozenset({nobody})
