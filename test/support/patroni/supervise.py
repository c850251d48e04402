"""Runs one command and owns every process that comes of it, however deep or detached.

usage: supervise.py CLUSTER_DIR DATA_DIR COMMAND [ARG...]

It is a child subreaper: orphans (a postmaster detaches from Patroni) come to it and are reaped, because a
zombie postmaster looks alive to Patroni. Prints the command's pid. Input 'k' then EOF: kill the whole tree.
EOF alone: the harness is dead, so kill the tree and remove the cluster's directory too.
"""
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

PR_SET_CHILD_SUBREAPER = 36
IPC_RMID = 0
libc = ctypes.CDLL(None, use_errno=True)
finishing = threading.Event()


def descendants():
    """Pids below this process, parents before children."""
    children = {}
    for entry in os.listdir('/proc'):
        if entry.isdigit():
            try:
                with open('/proc/%s/stat' % entry, encoding='utf-8', errors='replace') as f:
                    parent = int(f.read().rpartition(')')[2].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry))
    found = [os.getpid()]
    for pid in found:
        found.extend(children.get(pid, []))
    return found[1:]


def kill_tree():
    while True:
        pids = descendants()
        if not pids:
            return
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.005)


def remove_shared_memory(data_dir):
    """A killed postmaster leaves its System V segment behind; line 7 of its pid file is 'key id'."""
    try:
        with open(os.path.join(data_dir, 'postmaster.pid'), encoding='utf-8') as f:
            segment = int(f.read().split('\n')[6].split()[1])
    except (OSError, IndexError, ValueError):
        return
    libc.shmctl(segment, IPC_RMID, None)


def remove_directory(directory):
    """The other supervisors of this cluster do the same at the same time, some of them a little later."""
    deadline = time.monotonic() + 5
    while os.path.exists(directory) and time.monotonic() < deadline:
        shutil.rmtree(directory, ignore_errors=True)
        time.sleep(0.05)


def finish(cluster_dir, data_dir, harness_died):
    finishing.set()
    kill_tree()
    remove_shared_memory(data_dir)
    if harness_died:
        remove_directory(cluster_dir)
    os._exit(0)


def main():
    cluster_dir, data_dir, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit('prctl(PR_SET_CHILD_SUBREAPER) failed: errno %d' % ctypes.get_errno())
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    print(child.pid, flush=True)

    def obey():
        finish(cluster_dir, data_dir, harness_died=os.read(0, 1) != b'k')

    threading.Thread(target=obey, daemon=True).start()
    code = 0
    while True:
        try:
            pid, status = os.waitpid(-1, 0)
        except ChildProcessError:
            break
        if pid == child.pid:
            code = os.waitstatus_to_exitcode(status)
    if finishing.is_set():
        # The other thread killed them all and ends this process when it has tidied up.
        threading.Event().wait()
    # os._exit: an ordinary exit would wait for the thread that reads our input. A signal's number as shells do.
    os._exit(code if code >= 0 else 128 - code)


main()
