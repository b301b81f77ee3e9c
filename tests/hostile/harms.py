"""What hostile code under test might do to the machine it runs on.

Each attack is the body of a test. `W` holds the places and numbers of what must not be reached; what an attack learns
it prints. Whether harm was done is for `test_host` to see, from outside.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Harm:
    """One attack.

    Args:
        name: what it tries.
        code: the body of a test.
        leak: the name under which a partial isolation admits that it cannot stop it; "" when it can.
        sign: how it is seen: "files" of the user changed, the "secret" came out, a "call" arrived at a listener, the
            "victim" process ended or was read, a process is "left", the limit named here was passed ("many", "memory",
            "disk"), the run "ended" by a limit of time, or a door of the kernel "opened".
        unconfined: whether the attack may be tried without confinement, to see that it works.
    """

    name: str
    code: str
    sign: str
    leak: str = ""
    unconfined: bool = True


HARMS = [
    Harm("writes into the home folder", "open(W.home + '/.bashrc', 'a').write('evil')", "files"),
    Harm("writes into the user's project", "open(W.user + '/calc.py', 'w').write('evil')", "files"),
    Harm(
        "writes through a symbolic link",
        "os.symlink(W.user + '/calc.py', 'link'); open('link', 'w').write('evil')",
        "files",
    ),
    Harm(
        "writes through a hard link",
        "os.link(W.user + '/calc.py', 'hard'); open('hard', 'w').write('evil')",
        "files",
    ),
    Harm(
        "changes mode and times",
        "os.chmod(W.outside + '/.env', 0o666); os.utime(W.outside + '/.env', (1, 1))",
        "files",
        leak="attributes",
    ),
    Harm("deletes what is the user's", "import shutil; shutil.rmtree(W.outside)", "files"),
    Harm(
        "leaves a file in shared memory", "open('/dev/shm/' + W.mark, 'w').write('x')", "files", leak="memory"
    ),
    Harm("leaves a file in /tmp", "open('/tmp/' + W.mark, 'w').write('x')", "files"),
    Harm(
        "leaves a .pth file in the environment",
        "open(W.packages + '/' + W.mark + '.pth', 'w').write('import os')",
        "files",
    ),
    Harm("reads the user's keys", "print(open(W.home + '/.ssh/id_rsa').read())", "secret"),
    Harm(
        "reads through a link in the project",
        "os.symlink(W.home + '/.ssh', 'docs'); print(open('docs/id_rsa').read())",
        "secret",
    ),
    Harm("reads a .env outside", "print(open(W.outside + '/.env').read())", "secret"),
    Harm("reads what lies elsewhere on the machine", "print(open(W.beside + '/notes').read())", "secret"),
    Harm("reads the server's environment", "print(open('/proc/%d/environ' % W.victim).read())", "secret"),
    Harm(
        "reads everybody's environment",
        "for name in os.listdir('/proc'):\n"
        "    try: print(open('/proc/%s/environ' % name).read())\n"
        "    except OSError: pass",
        "secret",
    ),
    Harm(
        "reads the server's memory",
        "memory = open('/proc/%d/mem' % W.victim, 'rb')\n"
        "for line in open('/proc/%d/maps' % W.victim):\n"
        "    if '[stack]' in line:\n"
        "        low, high = (int(n, 16) for n in line.split()[0].split('-'))\n"
        "        memory.seek(low); print(memory.read(high - low).decode('latin-1'))",
        "secret",
    ),
    Harm(
        "traces the server",
        "import ctypes\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "if libc.ptrace(16, W.victim, None, None) == 0: os.waitpid(W.victim, 0x40000000); libc.ptrace(17, W.victim, None, None); print('opened')",
        "opened",
    ),
    Harm(
        "asks for the user's keyring",
        "import ctypes, platform\n"
        "number = {'x86_64': 250, 'aarch64': 219}[platform.machine()]\n"
        "if ctypes.CDLL(None).syscall(number, 0, -3, 1) != -1: print('opened')",
        "opened",
    ),
    Harm(
        "calls a local TCP service",
        "import socket; socket.create_connection(('127.0.0.1', W.tcp), 2).sendall(b'x')",
        "call",
    ),
    Harm(
        "calls every address of the machine",
        "import socket\nfor host in W.addresses: socket.create_connection((host, W.tcp), 2).sendall(b'x')",
        "call",
    ),
    Harm(
        "sends to a local UDP service",
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', W.udp))",
        "call",
    ),
    Harm(
        "asks a name server",
        "import socket; socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b'x', ('::ffff:127.0.0.1', W.udp))",
        "call",
    ),
    Harm(
        "calls a service by its path",
        "import socket; s = socket.socket(socket.AF_UNIX); s.connect(W.door); s.sendall(b'x')",
        "call",
        leak="services",
    ),
    Harm(
        "calls an abstract socket",
        "import socket; s = socket.socket(socket.AF_UNIX); s.connect('\\0' + W.mark); s.sendall(b'x')",
        "call",
    ),
    Harm(
        "opens an io_uring",
        "import ctypes\n"
        "if ctypes.CDLL(None).syscall(425, 4, ctypes.create_string_buffer(120)) != -1: print('opened')",
        "opened",
    ),
    Harm(
        "makes namespaces",
        "import ctypes\nif ctypes.CDLL(None).unshare(0x10000000) == 0: print('opened')",
        "opened",
    ),
    Harm(
        "opens a socket of the host's hypervisor",
        "import socket; socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM); print('opened')",
        "opened",
    ),
    Harm(
        "writes to the protocol",
        "for fd in range(3, 256):\n"
        "    try: target = os.readlink('/proc/self/fd/%d' % fd)\n"
        "    except OSError: continue\n"
        "    if W.inherited in target: print('opened')",
        "opened",
    ),
    Harm("kills the server", "os.kill(W.victim, 9)", "victim"),
    Harm(
        "kills all it can",
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.kill(-1, signal.SIGTERM)",
        "victim",
        unconfined=False,
    ),
    Harm(
        "makes processes without end",
        "import time\n"
        "made = 0\n"
        "for _ in range(500):\n"
        "    try: pid = os.fork()\n"
        "    except OSError: break\n"
        "    if pid == 0: time.sleep(20); os._exit(0)\n"
        "    made += 1\n"
        "print('made', made)",
        "many",
        leak="resources",
        unconfined=False,
    ),
    Harm(
        "takes all memory in one process",
        "taken = []\nfor n in range(80):\n    taken.append(bytearray(b'x') * 100_000_000)\nprint('survived')",
        "memory",
        unconfined=False,
    ),
    Harm(
        "takes all memory in many processes",
        "import time\n"
        "told, tell = os.pipe()\n"
        "for n in range(8):\n"
        "    if os.fork() == 0:\n"
        "        taken = bytearray(b'x') * 100_000_000; os.write(tell, b'x'); time.sleep(10); os._exit(0)\n"
        "while n >= 0: n -= len(os.read(told, 8))\n"  # however long it takes, all of it is taken now
        "time.sleep(3)\n"
        "print('survived')",
        "memory",
        leak="resources",
        unconfined=False,
    ),
    Harm(
        "fills the disk with one file",
        "with open('big', 'wb') as file:\n"
        "    for n in range(1000): file.write(bytes(1_000_000)); print('wrote', n)",
        "disk",
        unconfined=False,
    ),
    Harm(
        "fills the disk with many files",
        "for n in range(1000):\n    with open('big%d' % n, 'wb') as file: file.write(bytes(1_000_000))\n    print('wrote', n)",
        "disk",
        leak="resources",
        unconfined=False,
    ),
    Harm(
        "leaves a daemon",
        "import subprocess\n"
        "subprocess.Popen(['sh', '-c', 'sleep 62 # ' + W.mark], start_new_session=True, stdin=-3, stdout=-3, stderr=-3)",
        "left",
    ),
    Harm(
        "does not end when it is asked to",
        "import signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "while True:\n"
        "    try: time.sleep(1)\n"
        "    except BaseException: pass",
        "ended",
    ),
]
