"""A confined run does what honest tests do and reaches nothing else; the level is what was seen to hold."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .client import PROBE, Copy, Probe, Ran, probe
from .environments import lacking

REACHING = {
    "test_it.py": (
        "import os, subprocess, sys\n"
        "USER = os.environ['USER_TREE']\n"
        "def _write(path):\n"
        "    with open(path, 'w') as file: file.write('x')\n"
        "def test_user_tree(): _write(os.path.join(USER, 'new.txt'))\n"
        "def test_user_file(): _write(os.path.join(USER, 'test_it.py'))\n"
        "def test_remove(): os.remove(os.path.join(USER, 'test_it.py'))\n"
        "def test_by_process():\n"
        "    code = 'open(%r, \"w\")' % os.path.join(USER, 'new.txt')\n"
        "    subprocess.run([sys.executable, '-c', code], check=True)\n"
        "def test_copy():\n"
        "    _write('new.txt')\n"
        "    os.makedirs('deep/er')\n"
        "    os.rename('new.txt', 'deep/er/new.txt')\n"
        "    os.truncate('deep/er/new.txt', 0)\n"
        "def test_temp(tmp_path): _write(str(tmp_path / 'new.txt'))\n"
    )
}
LIVING = {
    "data/old.txt": "old",
    "data/more/deep.txt": "deep",
    ".hidden/readme": "hidden",
    "test_it.py": """\
import asyncio, concurrent.futures, contextlib, http.server, multiprocessing, os, pathlib, pty, resource, shutil
import signal, socket, sqlite3, subprocess, sys, tempfile, threading, time, urllib.request
import pytest

HERE = pathlib.Path(__file__).parent


def double(n):
    return 2 * n


def test_the_project_is_where_it_always_is():
    assert str(HERE) == os.environ["PROJECT"] == os.getcwd()
    assert (HERE / ".venv" / "mark").read_text() == "environment"


def test_a_local_http_server():
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with urllib.request.urlopen("http://127.0.0.1:%d/data/old.txt" % server.server_port) as answer:
        assert answer.read() == b"old"
    server.shutdown()
    server.server_close()


def test_loopback_by_name_and_ipv6():
    for family, host in ((socket.AF_INET, "localhost"), (socket.AF_INET6, "::1")):
        with socket.socket(family) as server:
            server.bind((host, 0))
            server.listen()
            socket.create_connection(server.getsockname()[:2]).close()


def test_udp_and_unix_sockets(tmp_path):
    one, two = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    one.bind(("127.0.0.1", 0))
    two.sendto(b"x", one.getsockname())
    assert one.recv(1) == b"x"
    for name in (str(tmp_path / "s"), "\\0regreen-test"):
        with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
            server.bind(name)
            server.listen()
            client.connect(name)
    one.close(), two.close()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method):
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        assert pool.map(double, range(3)) == [0, 2, 4]
    with context.Lock():
        assert context.Value("i", 3).value == 3


def test_shared_memory():
    from multiprocessing import shared_memory
    block = shared_memory.SharedMemory(create=True, size=100)
    block.close()
    block.unlink()


def test_process_pool():
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        assert list(pool.map(double, [1])) == [2]


def test_sqlite_in_the_project_and_in_temp(tmp_path):
    for path in ("new.db", tmp_path / "new.db"):
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("create table t (x)")
            db.commit()


def test_temporary_files(tmp_path):
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as file:
        file.write(b"x")
        shutil.copy(file.name, folder)
    pathlib.Path("/tmp/hard-coded").write_text("x")
    pathlib.Path("/var/tmp/hard-coded").write_text("x")
    (pathlib.Path.home() / ".config").mkdir(exist_ok=True)
    (pathlib.Path.home() / ".config" / "mine").write_text("x")


def test_terminals():
    pid, fd = pty.fork()
    if pid == 0:
        os.write(1, b"hello")
        os._exit(0)
    assert os.read(fd, 5) == b"hello"
    os.waitpid(pid, 0)
    os.close(fd)


def test_sixty_threads():
    go = threading.Event()
    threads = [threading.Thread(target=go.wait) for _ in range(60)]
    [thread.start() for thread in threads]
    go.set()
    [thread.join() for thread in threads]


def test_programs():
    done = subprocess.run([sys.executable, "-c", "print(open('data/old.txt').read())"], stdout=-1, check=True)
    assert done.stdout == b"old\\n"
    assert subprocess.run(["sh", "-c", "exit 3"]).returncode == 3
    with subprocess.Popen(["sleep", "60"]) as child:
        child.terminate()
    assert child.returncode == -signal.SIGTERM


def test_orphans_are_reaped():
    out = subprocess.run(["sh", "-c", "true & echo $!"], stdout=-1).stdout
    for _ in range(100):
        if not os.path.exists("/proc/%d" % int(out)):
            break
        time.sleep(0.05)
    else:
        raise AssertionError("still there")


def test_signals_of_our_own():
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)


def test_folders_change(tmp_path):
    shutil.rmtree("data")
    os.mkdir("data")
    assert os.listdir("data") == []
    shutil.move(".hidden", "seen")  # renaming a folder of the copy is the one thing an overlay cannot
    assert os.listdir("seen") == ["readme"]
    os.chmod("test_it.py", 0o600)
    os.utime("test_it.py", (1, 1))
    os.symlink("test_it.py", "link")
    os.link("test_it.py", "hard")


def test_asyncio_subprocess():
    async def main():
        process = await asyncio.create_subprocess_exec("true")
        return await process.wait()
    assert asyncio.run(main()) == 0


def test_devices():
    for name in ("null", "zero", "urandom", "random"):
        open("/dev/" + name, "rb").read(1)
    open("/dev/null", "w").close()


def test_limits():
    assert resource.getrlimit(resource.RLIMIT_CORE)[0] == 0
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == 1 << 30


def test_nothing_more_can_be_asked_of_the_kernel():
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    assert [int(status[name], 16) for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb")] == [0, 0, 0, 0]
    assert (int(status["NoNewPrivs"]), int(status["Seccomp"])) == (1, 2)
    assert os.statvfs("/proc").f_flag & os.ST_RDONLY
    assert len([pid for pid in os.listdir("/proc") if pid.isdigit()]) < 5
""",
}


def full(host: Probe) -> None:
    """End the test where runs cannot be fully isolated."""
    if host.hello["isolation"]["level"] != "full":
        lacking("user, mount and network namespaces: " + host.hello["isolation"]["why"])


def run_full(started: Probe, copy: Copy, **fields: object) -> Ran:
    """Run all tests of a project as it is run in an editor."""
    return started.run(copy, **copy.full(**fields))


def test_honest_tests_live_at_full_isolation(every_python: Path, tmp_path: Path) -> None:
    copy = Copy(tmp_path, LIVING)
    (copy.user / ".venv").mkdir()
    (copy.user / ".venv/mark").write_text("environment")
    with probe(every_python) as started:
        full(started)
        ran = run_full(started, copy, beneath=[str(copy.user / ".venv")])
    red = {
        r["nodeid"]: (r["failure"] or {}).get("message") for r in ran.of("test") if r["outcome"] != "passed"
    }
    assert red == {}
    assert len(ran.of("test")) == 21
    assert ran.one("started")["isolation"] == "full"
    assert sorted(p.name for p in copy.user.iterdir()) == [".hidden", ".venv", "data", "test_it.py"]
    assert sorted(p.name for p in copy.root.iterdir()) == [".hidden", "data", "test_it.py"]


@pytest.mark.parametrize("mode", ["host", "run"])
def test_a_partly_isolated_run_writes_only_to_the_copy_and_temp(
    python: Path, tmp_path: Path, mode: str
) -> None:
    copy = Copy(tmp_path, REACHING)
    with probe(python, mode) as started:
        ran = started.run(copy, env={"USER_TREE": str(copy.user)})
    assert ran.one("started")["isolation"] == "partial"
    red = [name for name, outcome in ran.outcomes.items() if outcome != "passed"]
    assert red == ["test_user_tree", "test_user_file", "test_remove", "test_by_process"]
    assert ran.failure("test_user_tree")["exception"] == "PermissionError"
    assert sorted(p.name for p in copy.user.iterdir()) == ["test_it.py"]
    assert (copy.user / "test_it.py").read_text() == REACHING["test_it.py"]


@pytest.mark.parametrize("mode", ["host", "run"])
def test_without_confinement_the_level_is_none_and_tests_run(python: Path, tmp_path: Path, mode: str) -> None:
    copy = Copy(tmp_path, REACHING)
    with probe(python, mode, REGREEN_NO_CONFINEMENT="1") as started:
        if mode == "host":
            assert started.hello["isolation"]["level"] == "none"
        ran = started.run(copy, env={"USER_TREE": str(copy.user)})
    assert ran.one("started")["isolation"] == "none"
    assert ran.outcomes["test_user_tree"] == "passed"


def test_no_confinement_is_entered_when_none_is_wanted(python: Path, tmp_path: Path) -> None:
    copy = Copy(tmp_path, REACHING)
    with probe(python) as started:
        ran = started.run(
            copy,
            "test_it.py::test_user_tree",
            confine=copy.confine(level="none"),
            env={"USER_TREE": str(copy.user)},
        )
    assert ran.one("started")["isolation"] == "none"
    assert ran.outcomes == {"test_user_tree": "passed"}


def test_a_partly_isolated_run_signals_nobody_but_what_it_started(host: Probe, tmp_path: Path) -> None:
    if "processes" in host.hello["isolation"]["leaks"]:
        lacking("a kernel whose Landlock knows signals (Linux 6.12)")
    with subprocess.Popen(["sleep", "60"]) as bystander:
        test = (
            "import os, pytest, signal, subprocess\n"
            "def test_others():\n"
            f"    for pid in ({bystander.pid}, os.getppid()):\n"
            "        with pytest.raises(PermissionError): os.kill(pid, signal.SIGKILL)\n"
            "def test_own():\n"
            "    child = subprocess.Popen(['sleep', '60'])\n"
            "    child.terminate()\n"
            "    assert child.wait() == -signal.SIGTERM\n"
        )
        ran = host.run(Copy(tmp_path, {"test_it.py": test}))
        assert ran.outcomes == {"test_others": "passed", "test_own": "passed"}
        assert bystander.poll() is None
        bystander.kill()


@pytest.mark.parametrize(
    ("body", "code", "number"),
    [
        ("os._exit(3)", 3, None),
        ("os._exit(200)", 200, None),
        ("os.abort()", None, signal.SIGABRT),
        ("os.kill(os.getpid(), signal.SIGKILL)", None, signal.SIGKILL),
        ("import ctypes; ctypes.string_at(0)", None, signal.SIGSEGV),
    ],
)
@pytest.mark.parametrize("mode", ["host", "run"])
def test_how_an_isolated_run_ended_is_told(
    python: Path, tmp_path: Path, mode: str, body: str, code: int | None, number: int | None
) -> None:
    copy = Copy(tmp_path, {"test_it.py": f"import os, signal\ndef test_it():\n    {body}\n"})
    with probe(python, mode) as started:
        ran = run_full(started, copy)
    assert [r["signal"] for r in ran.of("fate")] == ([] if number is None else [number])
    if code is not None:
        assert ran.one("ended")["code"] == code


def test_memory_that_many_processes_take_together_ends_the_run(host: Probe, tmp_path: Path) -> None:
    full(host)
    test = (
        "import os, time\n"
        "def test_it():\n"
        "    for _ in range(4):\n"
        "        if os.fork() == 0:\n"
        "            taken = bytearray(80_000_000)\n"
        "            time.sleep(30)\n"
        "            os._exit(0)\n"
        "    time.sleep(30)\n"
    )
    ran = run_full(host, Copy(tmp_path, {"test_it.py": test}), memory=200_000_000)
    assert ran.one("fate")["memory"] > 200_000_000
    assert ran.of("test") == []


def test_a_run_that_shares_memory_with_its_forks_is_not_ended(host: Probe, tmp_path: Path) -> None:
    full(host)
    test = (
        "import os, time\n"
        "def test_it():\n"
        "    taken = bytearray(120_000_000)\n"
        "    for _ in range(4):\n"
        "        if os.fork() == 0:\n"
        "            time.sleep(0.5)\n"
        "            os._exit(0)\n"
        "    for _ in range(4): os.wait()\n"
    )
    ran = run_full(host, Copy(tmp_path, {"test_it.py": test}), memory=400_000_000)
    assert ran.outcomes == {"test_it": "passed"}


def test_nothing_of_a_run_is_left_when_its_host_is_killed(host: Probe, tmp_path: Path) -> None:
    full(host)
    mark = f"regreen-{os.getpid()}"
    test = f"import subprocess\ndef test_it(): subprocess.run(['sh', '-c', 'sleep 61 # {mark}'])\n"
    copy = Copy(tmp_path, {"test_it.py": test})
    number = host.begin(copy, **copy.full())
    host.until(number, lambda r: r["ev"] == "begin")
    host.process.kill()
    host.process.wait()
    for _ in range(100):
        if mark not in _commands():
            return
        signal.sigtimedwait([], 0.05)
    raise AssertionError("the test's process lives on")


def _commands() -> str:
    done = subprocess.run(["ps", "-eo", "args"], stdout=subprocess.PIPE, check=True, text=True)
    return done.stdout


# ---------------------------------------------------------------------- other machines, emulated

NO_NAMESPACES = 'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --reuid 0 "$0" "$@"'
"""For a process in a user namespace of its own: there, no more can be made."""
WITHOUT_MOUNT = """
import ctypes, os, struct, sys
sys.path.insert(0, sys.argv[1])
from regreen_probe import kernel, seccomp
seccomp.DENIED = tuple(name for name in sys.argv[2].split(","))
seccomp.NEW_NAMESPACES = 0
kernel.NUMBERS["clone3"] = 100_000
seccomp.enter(internet="all")
os.execv(sys.executable, [sys.executable, *sys.argv[3:]])
"""


def seen_by(python: Path, refused: str) -> dict[str, object]:
    """What the probe sees where the kernel refuses some calls, as in a container."""
    look = "import sys, json; sys.path.insert(0, sys.argv[1]); from regreen_probe import effects; print(json.dumps(effects.look()))"
    done = subprocess.run(
        [python, "-c", WITHOUT_MOUNT, PROBE, refused, "-c", look, PROBE], stdout=subprocess.PIPE, check=True
    )
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("refused", ["mount", "mount_setattr", "move_mount", "open_tree"])
def test_where_mounting_is_refused_isolation_is_partial_and_says_what_gets_through(
    python: Path, refused: str
) -> None:
    seen = seen_by(python, refused)
    assert seen["level"] == "partial"
    assert seen["leaks"] == ["attributes", "services", "memory", "resources"]
    assert "not permitted" in str(seen["why"])


def test_where_nothing_can_be_confined_isolation_is_none(python: Path) -> None:
    with probe(python, REGREEN_NO_CONFINEMENT="1") as started:
        assert started.hello["isolation"]["level"] == "none"
        assert started.hello["isolation"]["leaks"] == []


def test_the_probe_needs_nothing_that_only_linux_has(python: Path) -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['_ctypes', 'fcntl', 'pwd', 'resource']))\n"
        "sys.path.insert(0, sys.argv[1]); from regreen_probe import effects, main\n"
        "print(effects.look({'project': '/', 'readable': [], 'writable': [], 'network': False}))"
    )
    done = subprocess.run([python, "-c", code, PROBE], stdout=subprocess.PIPE, check=True, text=True)
    assert "'level': 'none'" in done.stdout


def test_without_a_place_to_try_it_nothing_is_claimed_and_tests_run(python: Path, tmp_path: Path) -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); import tempfile; from regreen_probe import effects\n"
    code += "tempfile.tempdir = sys.argv[2]; print(effects.look())"
    done = subprocess.run(
        [python, "-c", code, PROBE, tmp_path / "gone"], stdout=subprocess.PIPE, check=True, text=True
    )
    assert "'level': 'none'" in done.stdout
    assert "cannot be tried" in done.stdout


@pytest.mark.parametrize("length", [1, 100])
def test_looking_leaves_nothing_behind(python: Path, tmp_path: Path, length: int) -> None:
    temporary = tmp_path / ("t" * length)
    temporary.mkdir()
    with probe(python) as started:
        usual = started.hello["isolation"]
    with probe(python, TMPDIR=str(temporary)) as started:
        assert started.hello["isolation"] == usual
        assert list(temporary.iterdir()) == []
        assert not [p for p in Path(sys.prefix).iterdir() if p.name.startswith(".regreen")]
