"""Runs benchmarks and keeps what they printed, a file of JSON lines for each.

The first line of a file tells of the run itself: when, where, which source, how long, and
what went wrong.
"""
import json
import os
import platform
import signal
import subprocess
import time


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.split("\n")[0]
    except OSError:
        return ""


def machine():
    model = "unknown CPU"
    memory = 0
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    with open("/proc/meminfo") as f:
        memory = int(f.readline().split()[1]) / (1 << 20)
    return (f"{model}, {len(os.sched_getaffinity(0))} CPUs, {memory:.0f} GB, "
            f"{platform.system()} {platform.release()} {platform.machine()}")


def revision():
    commit = first_line(["git", "rev-parse", "--short", "HEAD"])
    changed = first_line(["git", "status", "--porcelain", "--untracked-files=no"])
    return (commit + (" with changes" if changed else "")) if commit else "no commit"


class Store:
    """The results of one report: directory/BENCH.jsonl."""

    def __init__(self, directory):
        self.directory = directory
        os.makedirs(directory, exist_ok=True)

    def path(self, bench):
        return os.path.join(self.directory, bench + ".jsonl")

    def benches(self):
        return sorted(n[:-6] for n in os.listdir(self.directory) if n.endswith(".jsonl"))

    def load(self, bench):
        """(what is known of the run, rows), or (None, []) if there was none."""
        try:
            with open(self.path(bench)) as f:
                lines = [json.loads(line) for line in f]
            return lines[0]["run"], lines[1:]
        except (OSError, ValueError, KeyError, IndexError):
            return None, []

    def save(self, bench, command, seconds, rows, error=""):
        run = {"date": time.strftime("%Y-%m-%d %H:%M"), "machine": machine(),
               "revision": revision(), "command": command}
        if seconds is not None:
            run["seconds"] = round(seconds, 1)
        if error:
            run["error"] = error
        with open(self.path(bench) + ".new", "w") as f:
            for line in [{"run": run}] + rows:
                f.write(json.dumps(line, ensure_ascii=False) + "\n")
        os.replace(self.path(bench) + ".new", self.path(bench))


def list_benches(weft_bench):
    """name -> what it measures."""
    out = subprocess.run([weft_bench, "--list"], capture_output=True, text=True, check=True)
    return dict(line.split(None, 1) for line in out.stdout.splitlines())


def parse(text):
    """The rows among lines that a benchmark printed; one cut off by its end is none."""
    rows = []
    for line in text.splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            pass
    return rows


def end(child):
    """Ends a benchmark; what it had begun dies with it."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.communicate()


def run(store, weft_bench, bench, arguments, limit):
    """Measures once. Returns (seconds, why it failed or "")."""
    command = [weft_bench, bench, "--json"] + arguments
    began = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             start_new_session=True)
    try:
        out, err = child.communicate(timeout=limit)
        error = ""
    except subprocess.TimeoutExpired:
        end(child)
        out, err, error = "", "", f"it was not done after {limit:.0f} s"
    except BaseException:
        end(child)
        raise
    rows = parse(out)
    failed = [f"{r['case']} ({r['who']}): {r['error']}" for r in rows if "error" in r]
    if not error and not rows:
        last = (err.strip().splitlines() or [""])[-1]
        error = f"it ended with status {child.returncode} and no figures. {last}".strip()
    seconds = time.monotonic() - began
    shown = " ".join(["weft-bench", bench, "--json"] + arguments)
    store.save(bench, shown, seconds, rows, error)
    return seconds, error or "; ".join(failed)
