"""Weft's threads and tamed functions in gdb, live and from a core dump:

    source weft-gdb.py
    weft threads            all of them: state, color, what they wait for, where begun
    weft bt N|NAME|all      stacks, from the call in which they wait
    weft thread N|NAME      go there: up, down, info locals ... see that thread
    weft thread off         back to the kernel thread
    weft closures           tamed functions that wait: color, where
    weft chain N|ADDRESS    who waits for that one, and who for those
    weft closure N|ADDRESS  its variables where it waits
    weft watch EXPRESSION   stops when a variable of a tamed function changes, also while it waits
    weft core FILE          writes a core dump that has the stacks, which gdb's own and gcore's lack

In tamed functions gdb's own commands take the variables by their names: print, set variable, watch,
info locals, info args, and all others by $weft("EXPRESSION"). next, step, until and finish follow the
closure over its waits. bt shows who waits for a tamed function behind it.

Nothing in the program is changed: a thread that does not run is shown by telling gdb
that its frames called the kernel thread's innermost one, which is left out. Threads
are found as src/platform/stack.h says, and their registers as the switch leaves them
(src/platform/switch_x86_64.h, switch_aarch64.S). Closures are found as src/tame/memory.c does.
"""
import contextlib
import functools
import itertools
import os
import re

import gdb
from gdb.FrameDecorator import FrameDecorator
from gdb.unwinder import Unwinder, register_unwinder

STATES = ["free", "ready", "running", "waiting", "ended"]
FREE, READY, RUNNING, PARKED, ENDED, HOPS, SPARE = range(7)

# Of Weft's sources: those that a thread passes on its way into a wait.
FOLDERS = ["platform/", "scheduler/", "io/", "threads/", "async/", "tame/"]

# No object lies this low: a smaller number is a descriptor.
LEAST_ADDRESS = 1 << 22


def value_of(name):
    try:
        return gdb.parse_and_eval(name)
    except gdb.error:
        raise gdb.GdbError("no %s: is this a program with Weft, and has Weft its debug "
                           "information?" % name)


def address_of(function):
    """0 if it is not known: Weft's own, and stripped."""
    try:
        return int(gdb.parse_and_eval("(long)&" + function))
    except gdb.error:
        return 0


def struct(name):
    try:
        return gdb.lookup_type("struct " + name)
    except gdb.error:
        raise gdb.GdbError("struct %s is not known: Weft has no debug information" % name)


def text_at(pointer, default=""):
    try:
        return pointer.string() if int(pointer) != 0 else default
    except (gdb.MemoryError, UnicodeDecodeError):
        return default


@functools.lru_cache(maxsize=1000)
def function_name(address):
    block = gdb.execute("info symbol %#x" % address, to_string=True)
    return block.split(" ")[0] if "No symbol" not in block else "%#x" % address


def word(address):
    memory = gdb.selected_inferior().read_memory(address, 8)
    return int.from_bytes(bytes(memory), "little")


def state_of(record):
    """A thread that hops is ready; a spare stack is free, unless a body runs there."""
    state = int(record["state"])
    if state == HOPS:
        return READY
    if state == SPARE:
        nobody = int(value_of("(long)&wf_nobody"))
        return FREE if int(record["under"]) == nobody else RUNNING
    return state


class Thread:
    def __init__(self, number, record):
        self.number = number
        self.record = record
        self.address = int(record.address)
        self.state = state_of(record)
        self.name = record["name"].string(errors="replace") or self.function()
        self.color = int(record["event"]["color"])
        # A body that has not waited has that of who used the stack before.
        fresh = int(record["state"]) == SPARE
        self.where = "" if fresh else text_at(record["event"]["where_"], "(internal)")

    def function(self):
        name = function_name(int(self.record["fn"]))
        return "a body" if name == "no_function" else name + "()"

    def title(self):
        return '%d "%s" (%#x)' % (self.number, self.name, self.address)

    def begun(self):
        return saved_registers(self.sp())["pc"] != int(value_of("(long)&wf_switch_root"))

    def sp(self):
        return int(self.record["context"]["sp"])

    def waits_for(self):
        if self.state != PARKED or int(self.record["wait"]) == 0:
            return ""
        wait = self.record["wait"].dereference()
        what, on = text_at(wait["what"], "?"), int(wait["on"])
        if what == "finish":  # all who wait for the end of a scope share one wait
            on = int(self.record["scope"])
        if what == "sleep" or on in (0, (1 << 64) - 1):
            return what
        if on < LEAST_ADDRESS:
            return "%s of descriptor %d" % (what, on)
        return "%s %#x" % (what, on)

    def kernel_thread(self):
        """gdb's thread that runs it, or None."""
        tid = int(self.record["worker"]["tid"])
        for thread in gdb.selected_inferior().threads():
            if tid in thread.ptid[1:]:
                return thread
        return None


def slabs(stacks):
    slab = stacks["slabs"]
    while int(slab) != 0:
        yield slab.dereference()
        slab = slab["next"]


def all_records():
    """The record and the stack size of each thread and body that is not free."""
    stacks = value_of("wf_thread_stacks")
    kind = struct("weft_thread")
    record_size = int(stacks["record"])
    at_state = next(f.bitpos for f in kind.fields() if f.name == "state") // 8
    inferior = gdb.selected_inferior()
    for slab in slabs(stacks):
        base, size = int(slab["base"]), int(slab["size"])
        for i in range(int(slab["carved"])):
            address = base + (i + 1) * size - record_size
            # There may be a million: most are free, and cheaply found to be so.
            if inferior.read_memory(address + at_state, 1)[0] == b"\0":
                continue
            record = gdb.Value(address).cast(kind.pointer()).dereference()
            if state_of(record) != FREE:
                yield record, size


def all_threads():
    for number, (record, _) in enumerate(all_records(), 1):
        yield Thread(number, record)


def lacks_stacks():
    """Whether there are stacks, and all of their records are zeros: the file lacks them. A stack that
    was used, or is in a list, has something there."""
    stacks = value_of("wf_thread_stacks")
    record_size = int(stacks["record"])
    inferior = gdb.selected_inferior()
    records = [int(slab["base"]) + (i + 1) * int(slab["size"]) - record_size
               for slab in slabs(stacks) for i in range(int(slab["carved"]))]
    return bool(records) and not any(
        any(bytes(inferior.read_memory(record, record_size))) for record in records)


def listed_threads():
    none = True
    for thread in all_threads():
        none = False
        yield thread
    if none and lacks_stacks():
        raise gdb.GdbError("this core lacks the stacks: write it by `weft core FILE`")


def find_threads(text):
    found = [t for t in listed_threads()
             if text in ("all", str(t.number), t.name, "%#x" % t.address)]
    if not found and text != "all":
        raise gdb.GdbError("no thread %s: see `weft threads`" % text)
    return found


def find_thread(text):
    found = find_threads(text)
    if len(found) != 1:
        raise gdb.GdbError("%d threads are called %s: give a number" % (len(found), text))
    return found[0]


# Stacks of threads that do not run

def architecture():
    name = gdb.selected_inferior().architecture().name()
    return "aarch64" if "aarch64" in name else "x86-64"


def saved_registers(sp):
    """What wf_switch left on the stack."""
    if architecture() == "aarch64":
        names = ["x%d" % i for i in range(19, 31)]
        saved = {name: word(sp + 64 + 8 * i) for i, name in enumerate(names)}
        saved["pc"] = saved["x30"]
        saved["sp"] = sp + 160
        return saved
    return {"rbx": word(sp), "rbp": word(sp + 8), "pc": word(sp + 16), "rsp": sp + 24 + 128}


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


def stack_pointer():
    return "sp" if architecture() == "aarch64" else "rsp"


class WeftUnwinder(Unwinder):
    """Says that the innermost frame of the kernel thread was called by the thread that
    is shown."""

    def __init__(self):
        super().__init__("weft")
        self.shown = None
        self.innermost = None

    def show(self, thread):
        self.shown = None
        gdb.invalidate_cached_frames()
        frame = gdb.newest_frame()
        self.innermost = (int(frame.read_register("pc")),
                          int(frame.read_register(stack_pointer())))
        self.shown = thread
        gdb.invalidate_cached_frames()

    def hide(self):
        self.shown = None
        gdb.invalidate_cached_frames()

    def __call__(self, pending):
        if self.shown is None:
            return None
        pc = int(pending.read_register("pc"))
        if (pc, int(pending.read_register(stack_pointer()))) != self.innermost:
            return None
        sp = self.shown.sp()
        kind = gdb.lookup_type("unsigned long")
        info = pending.create_unwind_info(FrameId(gdb.Value(sp).cast(kind),
                                                  gdb.Value(pc).cast(kind)))
        for name, value in saved_registers(sp).items():
            info.add_saved_register(name, gdb.Value(value).cast(kind))
        return info


unwinder = WeftUnwinder()
register_unwinder(None, unwinder, replace=True)


def first_frame():
    """The first that is the thread's: the kernel thread's innermost is left out."""
    frame = gdb.newest_frame()
    while frame is not None and (int(frame.read_register("pc")),
                                 int(frame.read_register(stack_pointer()))) == unwinder.innermost:
        frame = frame.older()
    return frame


def arguments(frame):
    try:
        block = frame.block()
        while block is not None and block.function is None:
            block = block.superblock
        return ", ".join("%s=%s" % (s.name, s.value(frame).format_string(max_elements=20))
                         for s in block if s.is_argument)
    except (gdb.error, RuntimeError, TypeError):
        return ""


def is_inside(frame):
    """Whether it is Weft's, and not what the user called."""
    park = gdb.lookup_global_symbol("wf_park")
    sal = frame.find_sal()
    if park is None or not sal.symtab or (frame.name() or "weft_").startswith("weft_"):
        return False
    sources = park.symtab.filename[:-len("threads/thread.c")]
    return any(sal.symtab.filename.startswith(sources + folder) for folder in FOLDERS)


def first_seen_by_user(frame):
    """What a thread does inside of a call is the same for all that wait there. All, if the
    user has no part in it."""
    outer = frame
    while outer is not None and is_inside(outer):
        outer = outer.older()
    return outer or frame


def show_frames(frame):
    # A body that has waited was called by nobody any more.
    while frame is not None and frame.pc() != 0:
        name = frame.name() or function_name(frame.pc())
        sal = frame.find_sal()
        place = " at %s:%d" % (sal.symtab.filename, sal.line) if sal and sal.symtab else ""
        print("#%-3d %#018x in %s (%s)%s" % (frame.level(), frame.pc(), name, arguments(frame),
                                             place))
        frame = frame.older()


def show_parked(thread):
    if not thread.begun():
        print("#0   %s, not begun" % function_name(int(thread.record["fn"])))
        return
    unwinder.show(thread)
    try:
        show_frames(first_seen_by_user(first_frame()))
    finally:
        unwinder.hide()


def show_running(thread):
    kernel = thread.kernel_thread()
    if kernel is None:
        print("(the kernel thread that runs it is not known here)")
        return
    before = gdb.selected_thread()
    kernel.switch()
    try:
        show_frames(gdb.newest_frame())
    finally:
        before.switch()


def show_stack(thread):
    if thread.state in (READY, PARKED):
        show_parked(thread)
    elif thread.state == RUNNING:
        show_running(thread)


# Core dumps

STEP = 1 << 14  # bytes of a stack that are read at a time; a guard has several of that


def load_segments(core):
    """What an ELF file has of the memory: address, size, place in the file."""
    def number(at, size):
        core.seek(at)
        return int.from_bytes(core.read(size), "little")

    at, size, count = number(32, 8), number(54, 2), number(56, 2)
    for header in range(at, at + count * size, size):
        if number(header, 4) == 1:  # PT_LOAD
            yield number(header + 16, 8), number(header + 32, 8), number(header + 8, 8)


def has_header(name):
    """gdb says that it saved the file even if it could not write all of it: the header comes last."""
    with open(name, "rb") as core:
        return core.read(4) == b"\x7fELF"


def stack_pieces(record, size):
    """The stack of a thread, from its high end, where the record is, down to its stack pointer. The
    stack pointer of a running thread is not known: then down to the guard, which cannot be read."""
    high = (int(record.address) + size) & -size
    parked = state_of(record) in (READY, PARKED)
    low = int(record["context"]["sp"]) & -STEP if parked else high - size
    for address in range(high - STEP, low - 1, -STEP):
        try:
            yield address, gdb.selected_inferior().read_memory(address, STEP)
        except gdb.MemoryError:
            return


def fill_in_stacks(name):
    with open(name, "r+b") as core:
        segments = list(load_segments(core))
        for record, size in all_records():
            for address, content in stack_pieces(record, size):
                place = next((place + address - start for start, length, place in segments
                              if start <= address < start + length), None)
                if place is None:
                    raise gdb.GdbError("gdb leaves out stacks: see `help set use-coredump-filter`")
                core.seek(place)
                core.write(content)


# Tamed functions

KINDS = INSIDE, APART, OF_RENDEZVOUS = range(3)
POOLED = 1
WAITED_FOR = (0, 1)  # states of an event of a rendezvous: armed, hooked


def static_value(name):
    """Of memory.c of the tamed functions; others have such names too."""
    symbols = [s for s in gdb.lookup_static_symbols(name)
               if s.symtab.filename.endswith("tame/memory.c")]
    if not symbols:
        raise gdb.GdbError("no %s: Weft has no debug information" % name)
    return symbols[0].value()


def file_and_line(where):
    return where.split("/")[-1]


class Closure:
    def __init__(self, address):
        self.address = address
        self.header = gdb.Value(address).cast(struct("weft_tame_closure").pointer()).dereference()
        self.function = self.header["function_"].dereference()
        self.color = int(self.header["color_"])
        self.name = text_at(self.function["name"], "?")
        self.threaded = int(self.function["body"]) == 0
        self.number = None

    def wait(self):
        state = int(self.header["state_"])
        if self.threaded:
            return "waits on %s" % thread_around(self.address)
        if state == 0 or state > int(self.function["wait_count"]):
            return "has begun, %s" % file_and_line(text_at(self.function["where"]))
        point = self.function["waits"][state - 1]
        return "waits at %s: %s" % (file_and_line(text_at(point["where"])), text_at(point["text"]))

    def place(self):
        """File and line at which it waits, if it does."""
        state = int(self.header["state_"])
        if self.threaded:
            wait = self.header.address.cast(struct("weft_tame_thread_closure").pointer())["wait_"]
            where = text_at(wait["what"]).split(" at ")[-1]
        elif state == 0 or state > int(self.function["wait_count"]):
            where = text_at(self.function["where"])
        else:
            where = text_at(self.function["waits"][state - 1]["where"])
        file, _, line = where.rpartition(":")
        return file, int(line) if line.isdigit() else 0

    def is_known(self):
        """Whether the function has debug information."""
        try:
            self.value()
        except gdb.GdbError:
            return False
        return True

    def value(self):
        """As the generated struct, which has its variables."""
        code = int(self.function["entry" if self.threaded else "body"])
        try:
            kind = gdb.lookup_type("struct %s__c" % self.name, gdb.block_for_pc(code))
        except (gdb.error, RuntimeError):
            raise gdb.GdbError("%s() has no debug information" % self.name)
        return gdb.Value(self.address).cast(kind.pointer()).dereference()


def thread_around(address):
    above = [t for t in all_threads() if t.address > address]
    if not above:
        return "a thread"
    return "thread " + min(above, key=lambda t: t.address).title()


def closure_addresses():
    stocks = static_value("stocks")[0]
    first, last = stocks.type.range()
    for i in range(first, last + 1):
        if int(stocks[i]["state"]) != POOLED:
            continue
        pool = stocks[i]["pool"]
        for k in range(int(pool["fresh"])):
            yield int(pool["base"]) + k * int(pool["size"])
    large = static_value("larges")
    while int(large) != 0:
        if int(large["kind"]) == 0:
            yield int(large["content"].address)
        large = large["next"]


def all_closures():
    at_function = next(f.bitpos for f in struct("weft_tame_closure").fields()
                       if f.name == "function_") // 8
    number = 0
    for address in closure_addresses():
        if word(address + at_function) == 0:
            continue
        number += 1
        closure = Closure(address)
        closure.number = number
        yield closure


def find_closure(text):
    for closure in all_closures():
        if text in (str(closure.number), "%#x" % closure.address):
            return closure
    raise gdb.GdbError("no closure %s: see `weft closures`" % text)


def is_event(kind):
    """A pointer to a pointer to a function whose first argument is a weft_tame_event."""
    for _ in range(2):
        if kind.code != gdb.TYPE_CODE_PTR:
            return False
        kind = kind.target().strip_typedefs()
    if kind.code != gdb.TYPE_CODE_FUNC or not kind.fields():
        return False
    argument = kind.fields()[0].type.strip_typedefs()
    return argument.code == gdb.TYPE_CODE_PTR and argument.target().name in (
        "weft_tame_event", "struct weft_tame_event")


def events_in(value):
    """The events that a variable holds, in structs and arrays too."""
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_PTR and is_event(kind):
        if int(value) != 0:
            yield int(value)
    elif kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        for field in kind.fields():
            if not (field.name or "").startswith("tame_"):
                yield from events_in(value[field])
    elif kind.code == gdb.TYPE_CODE_ARRAY and kind.target().strip_typedefs().code in (
            gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_ARRAY):
        for i in range(kind.range()[0], kind.range()[1] + 1):
            yield from events_in(value[i])


def waiter_of(address):
    """Who waits for an event, and where it was made; None: nobody does, or it is no event."""
    try:
        event = gdb.Value(address).cast(struct("weft_tame_event").pointer())
        site = event["site_"].dereference()
        kind = int(site["kind"])
        if int(event["trigger_"]) == address_of("wf_tame_dead") or kind not in KINDS:
            return None
        if kind == INSIDE:
            closure = address - int(site["offset"])
        elif kind == APART:
            closure = int(event.cast(struct("weft_tame_event_apart").pointer())["closure_"])
        else:
            event = event.cast(struct("weft_tame_event_of_rendezvous").pointer())
            if int(event["hook_"]["state_"]) not in WAITED_FOR:
                return None
            closure = int(event["rendezvous_"]["closure_"])
        made = "%s of %s" % (text_at(site["text"]), file_and_line(text_at(site["where"])))
        return Closure(closure), made
    except gdb.MemoryError:
        return None


def waiters(closure, seen):
    """Who waits for a closure, and who for those: closures, and where the events were made."""
    if closure.threaded or not closure.is_known():
        return
    for address in events_in(closure.value()):
        waiter = waiter_of(address)
        if waiter is not None and waiter[0].address not in seen:
            seen.add(waiter[0].address)
            yield waiter
            yield from waiters(waiter[0], seen)


# Variables of tamed functions, by their names in the source

class Variable:
    """One that lives in the closure: its name, its member there, the lines where it is in scope."""

    def __init__(self, member, names, lines):
        self.member = member
        # One that hides another of its name has a number behind it.
        plain = re.sub(r"__\d+$", "", member)
        self.name = plain if plain in names else member
        self.first, self.last = lines


def scopes(kind):
    """The variables of a generated struct, inner ones last, and the lines of the function's body."""
    prefix = len(kind.name) - len("c")
    lines = {}
    for field in kind["tame_scopes"].type.target().fields():
        _, member = field.name[prefix:].split("_", 1)
        lines.setdefault(member, []).append(field.enumval)
    body = lines.pop("")
    return [Variable(member, lines, lines[member]) for member in lines], body


class Scope:
    """What a tamed function sees of its closure at a line."""

    def __init__(self, closure, line):
        self.closure = closure
        self.line = line
        self.variables = []
        if closure.is_known():
            self.value = closure.value()
            variables, self.body = scopes(self.value.type)
            self.variables = [v for v in variables if v.first <= line <= v.last]

    def parameters(self):
        if not self.variables:
            return []
        entry = function_block(gdb.block_for_pc(int(self.closure.function["entry"])))
        names = [s.name for s in entry if s.is_argument]
        return [v for v in self.variables if v.name in names and [v.first, v.last] == self.body]

    def locals(self):
        """The innermost first, as gdb has them."""
        parameters = self.parameters()
        return [v for v in reversed(self.variables) if v not in parameters]


def function_block(block):
    while block is not None and block.function is None:
        block = block.superblock
    return block


def blocks(frame):
    """Those of a frame, from the innermost to that of its function."""
    try:
        block = frame.block()
    except RuntimeError:
        return
    while block is not None:
        yield block
        if block.function is not None:
            return
        block = block.superblock


def function_block_of(frame):
    return next((block for block in blocks(frame) if block.function is not None), None)


def symbols(frame):
    return (symbol for block in blocks(frame) for symbol in block)


def closure_type(frame):
    """That of the struct to which a frame has a pointer, if generated code runs there; or None."""
    for symbol in symbols(frame):
        if symbol.name == "tame_c":
            kind = symbol.type.target()
            return kind if "tame_scopes" in kind.keys() else None
    return None


def argument_now():
    """The first argument of a function that begins."""
    register = "x0" if architecture() == "aarch64" else "rdi"
    return int(gdb.newest_frame().read_register(register)) % (1 << 64)


def pointers(frame):
    """What may be the closure of a frame: optimised code has not all of them everywhere."""
    before = gdb.selected_frame()
    if frame.level() == 0 and frame.pc() == function_block_of(frame).start:
        yield None, argument_now()
    for expression in ("tame_c", "tame_p", "tame_p@entry"):
        try:
            frame.select()
            value = gdb.parse_and_eval(expression)
            if not value.is_optimized_out:
                yield expression, int(value)
        except gdb.error:
            pass
        finally:
            before.select()


class TamedFrame(Scope):
    """A frame that runs a tamed function."""

    def __init__(self, frame, closure, prefix):
        super().__init__(closure, frame.find_sal().line)
        self.frame = frame
        self.prefix = prefix  # of members, in expressions

    def hidden(self, variable):
        """Whether a variable that lives on the stack hides one of the closure."""
        return any(s.name == variable.name and s.is_variable and s.line > variable.first
                   for s in symbols(self.frame))

    def rewrite(self, expression, prefix):
        """The expression with the members of the closure in place of its variables."""
        found = {v.name: v for v in self.variables}
        found = {name: v.member for name, v in found.items() if not self.hidden(v)}

        def replace(match):
            token = match.group(0)
            return prefix + found[token] if token in found else token

        # Strings, names behind . and -> and ::, and tags are left as they are.
        return re.sub(r"""'(?:\\.|[^'])*'|"(?:\\.|[^"])*"|(?:->|\.|::)\s*\w+|"""
                      r"""\b(?:struct|union|enum)\s+\w+|[$\w]+(?:\s*::)?""", replace, expression)


def tamed(frame):
    """The TamedFrame that a frame is, or None."""
    kind = closure_type(frame)
    if kind is None:
        return None
    name = kind.name[:-len("__c")]
    for expression, address in pointers(frame):
        try:
            closure = Closure(address)
            role = name if closure.threaded else name + "__body"
            if closure.name == name and frame.function().name == role:
                prefix = "tame_c->" if expression == "tame_c" else by_address(kind, address)
                return TamedFrame(frame, closure, prefix)
        except gdb.MemoryError:
            pass
    return None


def by_address(kind, address):
    return "((%s *) %#x)->" % (kind, address)


MADE = re.compile(r"__(mk|t|d|r|fork)[0-9]+$")  # functions on the line of what they are made for


def with_members(expression, everywhere=False):
    """The expression as gdb can evaluate it in the selected frame, or in every frame."""
    try:
        frame = gdb.selected_frame()
        if frame.type() == gdb.INLINE_FRAME and MADE.search(frame.name() or ""):
            frame, everywhere = frame.older(), True
        here = tamed(frame)
    except gdb.error:
        here = None
    if here is None:
        return expression
    prefix = by_address(here.value.type, here.closure.address) if everywhere else here.prefix
    return here.rewrite(expression, prefix)


class NamedValue:
    """As frame filters have variables."""

    def __init__(self, name, value):
        self.name = name
        self.content = value

    def symbol(self):
        return self.name

    def value(self):
        return self.content


def named(scope, variables):
    return [NamedValue(v.name, scope.value[v.member]) for v in variables]


# Backtraces

class TamedDecorator(FrameDecorator):
    """Shows a tamed function by its name, with its variables."""

    def __init__(self, base, scope):
        super().__init__(base)
        self.scope = scope
        self.waiting = []  # for it, and those who wait for these

    def function(self):
        return self.scope.closure.name

    def elided(self):
        return self.waiting or super().elided()

    def frame_args(self):
        if self.scope.closure.threaded:
            return super().frame_args()
        return named(self.scope, self.scope.parameters())

    def frame_locals(self):
        frame = self.inferior_frame()
        return named(self.scope, self.scope.locals()) + [NamedValue(s.name, s.value(frame))
                                                         for s in own_locals(frame)]


class WaitingDecorator(TamedDecorator):
    """A tamed function that waits, in place of the frame that it does not have."""

    def __init__(self, base, closure):
        self.file, line = closure.place()
        super().__init__(base, Scope(closure, line))

    def elided(self):
        return []

    def address(self):
        return None

    def filename(self):
        return self.file

    def line(self):
        return self.scope.line

    def frame_args(self):
        return named(self.scope, self.scope.parameters())

    def frame_locals(self):
        return named(self.scope, self.scope.locals())


class TamedFilter:
    """Of gdb's frames: tamed functions as they are written, and behind the last of those that called
    each other all who wait for them."""

    def __init__(self):
        self.name = "weft"
        self.priority = 100
        self.wanted = True
        gdb.frame_filters[self.name] = self

    @property
    def enabled(self):
        """Without tamed functions gdb's own backtrace is better: a filter leaves out a few words."""
        return self.wanted and any(tamed(frame) for frame in itertools.islice(stack(), 1000))

    @enabled.setter
    def enabled(self, wanted):
        self.wanted = wanted

    def filter(self, frames):
        callers = []  # tamed functions, from the innermost
        seen = set()
        for shown in frames:
            frame = shown.inferior_frame()
            here = tamed(frame)
            if here is not None:
                callers.append(TamedDecorator(shown, here))
            elif not callers or not is_entry(frame, callers[-1].scope):
                yield from with_waiters(callers, seen)
                callers = []
                yield shown
        yield from with_waiters(callers, seen)


def stack():
    frame = gdb.newest_frame()
    while frame is not None:
        yield frame
        frame = frame.older()


def is_entry(frame, scope):
    """Whether it is the function by which a tamed one was called."""
    function = frame.function()
    return function is not None and function.name == scope.closure.name


def with_waiters(callers, seen):
    seen.update(caller.scope.closure.address for caller in callers)
    for caller in callers:
        for closure, _ in waiters(caller.scope.closure, seen):
            callers[-1].waiting.append(WaitingDecorator(caller, closure))
    return callers


# Variables as gdb shows them

LOCALS = (gdb.SYMBOL_LOC_CONST, gdb.SYMBOL_LOC_LOCAL, gdb.SYMBOL_LOC_REGISTER, gdb.SYMBOL_LOC_STATIC,
          gdb.SYMBOL_LOC_COMPUTED, gdb.SYMBOL_LOC_OPTIMIZED_OUT)


def is_own(symbol):
    """Whether it is the user's, and of no macro or generated code."""
    return re.match(r"tame_|weft_\w*_$", symbol.name) is None


def own_locals(frame):
    """What gdb itself shows as locals."""
    return [s for s in symbols(frame)
            if s.addr_class in LOCALS and not s.is_argument and is_own(s)]


def own_arguments(frame):
    return [s for s in symbols(frame) if s.is_argument and is_own(s)]


def show_variables(what, argument, kept, own, frame):
    """As `info locals` and `info args` do: `kept` are in a closure, `own` are symbols."""
    options = re.fullmatch(r"(?P<quiet>-q\s*)?(?:-t\s*(?P<type>\S+)\s*)?(?P<name>.*)", argument)
    pairs = [(v.symbol(), v.value().type, v.value) for v in kept]
    pairs += [(s.name, s.type, functools.partial(s.value, frame)) for s in own]
    some = False
    for name, kind, value in pairs:
        if re.search(options["name"], name) and re.search(options["type"] or "", str(kind)):
            print("%s = %s" % (name, readable(name, value)))
            some = True
    if not some and not options["quiet"]:
        print("No %s%s." % ("matching " if options["name"] or options["type"] else "", what))


def readable(name, value):
    try:
        return value().format_string()
    except gdb.error as error:
        return "<error reading variable %s (%s)>" % (name, error)


# Steps that follow a closure

def quiet(on):
    """Whether gdb says nothing where the program stops."""
    gdb.execute("set suppress-cli-notifications " + ("on" if on else "off"))


class Trap(gdb.Breakpoint):
    """Stops the program quietly at an address, if `when` says so."""

    def __init__(self, address, when):
        super().__init__("*%#x" % address, internal=True)
        self.when = when

    def stop(self):
        if not self.when():
            return False
        quiet(True)
        return True


class MemoryTrap(gdb.Breakpoint):
    """The same where a word of memory is used. The processor finds that: others pass without a stop."""

    def __init__(self, value, when):
        super().__init__("*(unsigned int *) %#x" % int(value.address), gdb.BP_WATCHPOINT,
                         gdb.WP_ACCESS, internal=True)
        self.when = when

    stop = Trap.stop


def return_place(frame):
    """Where a frame returns to: address and stack pointer."""
    outer = frame
    while outer.type() == gdb.INLINE_FRAME:
        outer = outer.older()
    outer = outer.older()
    while outer is not None and outer.type() == gdb.TAILCALL_FRAME:
        outer = outer.older()
    if outer is None:
        raise gdb.error("gdb does not know who called the function")
    return outer.pc(), int(outer.read_register(stack_pointer()))


def instructions(address):
    """Those that run from an address on, if no condition jumps; to the end of the function."""
    code = gdb.selected_inferior().architecture()
    for _ in range(50):
        instruction = code.disassemble(address)[0]
        words = instruction["asm"].split()
        yield words[0], instruction["asm"]
        if words[0].startswith("ret"):
            return
        jumps = words[0] in ("jmp", "b") and words[1].startswith("0x")
        address = int(words[1], 16) if jumps else address + instruction["length"]


def only_returns(address):
    """Whether code just returns, and neither ends the tamed function before that nor does any other
    thing. The check of a protected stack does not count."""
    for name, text in instructions(address):
        if "<weft_tame_leave" in text or name in ("call", "bl") and "__stack_chk" not in text:
            return False
        if name.startswith("ret"):
            return True
    return False


def ends(here):
    """Where the code of a wait goes, in a body, to return: it has the line of the last brace, or gcc
    has put a nop there with the line of the wait."""
    block = function_block_of(here.frame)
    return [item.pc for item in here.frame.find_sal().symtab.linetable()
            if block.start <= item.pc < block.end
            and (item.line == here.body[1] or next(instructions(item.pc))[0] == "nop")
            and only_returns(item.pc)]


class Follower:
    """Where a closure is that a command runs on from."""

    def __init__(self, closure, line=None, last=0):
        self.closure = closure
        self.line = line  # that it leaves
        self.last = last  # address of that
        self.traps = []
        self.goals = []  # of a command with a location

    def is_argument(self):
        return argument_now() == self.closure.address

    def runs(self):
        """The frame in which the closure runs, if that is the innermost one."""
        here = tamed(gdb.newest_frame())
        return here if here and here.closure.address == self.closure.address else None

    def clear(self):
        for trap in self.traps:
            trap.delete()
        quiet(False)

    def body_trap(self, came, hardware):
        """Where the closure goes on: its body reads there where."""
        if hardware:
            return MemoryTrap(self.closure.header["state_"],
                              lambda: note(came, self.runs() is not None))
        return Trap(int(self.closure.function["body"]), lambda: note(came, self.is_argument()))

    def leave_trap(self, came, hardware):
        """Where the function ends: it looks there for what the closure leaves behind."""
        leave = "weft_tame_leave"
        if hardware:
            return MemoryTrap(self.closure.header["rendezvous_"],
                              lambda: note(came, gdb.newest_frame().name() == leave))
        return Trap(address_of(leave), lambda: note(came, self.is_argument()))


def note(came, here=True):
    if here:
        came.append(True)
    return here


class Step(Follower):
    """A command in a tamed function: whether that waits meanwhile."""

    def __init__(self, command, here, line, last):
        super().__init__(here.closure, line, last)
        self.command = command
        self.frame = here.frame
        self.thread = gdb.selected_thread()
        self.ended = False
        self.left = False
        pc, sp = return_place(here.frame)
        self.traps = [Trap(address_of("weft_tame_leave"), self.leaves),
                      Trap(pc, lambda: self.waits(stack_pointer_now() == sp))]
        if command != "finish" and self.line != here.body[1]:
            self.traps += [Trap(pc, lambda: self.waits(gdb.newest_frame() == self.frame))
                           for pc in ends(here)]

    def leaves(self):
        self.ended = self.ended or self.is_argument()
        return False

    def waits(self, here):
        if not here or self.ended:
            return False
        self.left = True
        self.goals = goals()
        return True

    def left_inlined(self):
        """Whether the step just went to who called an inlined body, which does not return."""
        return (is_live() and not self.ended and type(hooks.stop) is gdb.StopEvent
                and self.thread == gdb.selected_thread() and not self.frame.is_valid())

    def go_on(self):
        """Gdb has run the command: on to where that ends, if the function waits."""
        self.clear()
        if not self.left and not self.left_inlined():
            return
        if self.command == "finish" or self.goals:
            run_to_end(self)
        elif run_until(self, self.body_trap):
            pass_switch(self)
            finish_step(self)


def goals():
    """Where `until` and `advance` with a location go: gdb has breakpoints without a number for that."""
    listed = gdb.execute("maint info breakpoints", to_string=True)
    return [int(x, 16) for x in re.findall(r"^0 +until .* (0x\w+) in \w+__body ", listed, re.M)]


def stack_pointer_now():
    return int(gdb.newest_frame().read_register(stack_pointer()))


class Call(Follower):
    """A step in the function by which a tamed one is called: on to the first line of its body, which
    may run elsewhere."""

    def __init__(self, body):
        super().__init__(None)
        self.thread = gdb.selected_thread()
        elsewhere = address_of("weft_tame_begin_elsewhere")
        self.traps = [Trap(address, self.begins) for address in (body, elsewhere)]

    def begins(self):
        if gdb.selected_thread() == self.thread:
            self.closure = Closure(argument_now())
        return self.closure is not None

    def go_on(self):
        self.clear()
        if self.closure is None:
            return
        if self.runs() or run_until(self, self.body_trap):
            pass_switch(self)
            show_place()


def body_of_entry(frame):
    """Where the body begins of the tamed function by whose entry it is called; or None."""
    function = frame.function()
    body = function and gdb.lookup_static_symbol(function.name + "__body")
    return int(body.value().address) if body else None


def run_until(step, trap):
    """Runs the program until the closure is where a trap is, or is to go. Whether it came there. If not
    gdb has told why the program stopped."""
    try:
        return run_to(step, lambda came: trap(came, hardware=True))
    except gdb.error:  # the processor has no means for that, or no more
        return run_to(step, lambda came: trap(came, hardware=False))


def run_to(step, trap):
    came, gone = [], []
    traps = [Trap(address, lambda: note(came, step.runs() is not None)) for address in step.goals]
    if address_of("wf_tame_free_all") != 0:
        traps.append(Trap(address_of("wf_tame_free_all"), lambda: note(gone)))
    try:
        traps.append(trap(came))
        gdb.execute("continue", to_string=True)
    finally:
        for each in traps:
            each.delete()
        quiet(False)
    if gone or not is_live():
        print("%s() waited, and the run has ended" % step.closure.name)
        if gone:
            show_place()
    elif not came and not step.runs():
        print("%s() still waits" % step.closure.name)
    return bool(came)


def pass_switch(step):
    """From the beginning of the body, whose line is the first brace's, to where it goes on."""
    locking = gdb.parameter("scheduler-locking")
    gdb.execute("set scheduler-locking on")
    quiet(True)
    try:
        here = step.runs()
        while here and here.line == here.body[0] not in (step.line, here.body[1]):
            gdb.execute("next", to_string=True)
            here = step.runs()
    finally:
        quiet(False)
        gdb.execute("set scheduler-locking " + locking)


def finish_step(step):
    here = step.runs()
    if here and (here.line == step.line or step.command == "until" and here.frame.pc() <= step.last):
        again = Step(step.command, here, step.line, step.last)
        gdb.execute(step.command)
        again.go_on()
    else:
        show_line()


def show_line():
    """As gdb does behind a step."""
    print(gdb.execute("frame", to_string=True).splitlines()[-1])
    gdb.execute("display")


def show_place():
    """As gdb does where another function goes on."""
    place = gdb.execute("backtrace -hide 1", to_string=True).splitlines()[0]
    source = gdb.execute("frame", to_string=True).splitlines()[1:]
    print("\n".join([re.sub(r"^#0 +", "", place)] + source))
    gdb.execute("display")


def run_to_end(step):
    """On until the function has ended, or is where it was to go."""
    if not run_until(step, step.leave_trap):
        return
    if step.runs():
        show_line()
        return
    print("%s() has ended" % step.closure.name)
    quiet(True)
    try:
        gdb.execute("finish", to_string=True)
        while (gdb.newest_frame().name() or "").endswith("__body"):
            gdb.execute("finish", to_string=True)
    finally:
        quiet(False)
    show_place()


class Hooks:
    """Has gdb's commands followed by what makes them follow a closure. Where gdb takes commands from
    the user it runs a hookpost- before the program has stopped: then the next prompt does it."""

    def __init__(self):
        self.step = None
        self.busy = False
        self.stop = None  # the last event

    def before(self, command):
        if self.busy:
            return
        self.forget()
        if is_live():
            with contextlib.suppress(gdb.error):  # then the command is as ever
                self.step = follow(command)

    def after(self):
        if self.step is None or self.busy or is_running():
            return
        step, self.step, self.busy = self.step, None, True
        try:
            step.go_on()
        finally:
            self.busy = False

    def forget(self):
        if self.step is not None:
            self.step.clear()
        self.step = None

    def note_stop(self, event):
        self.stop = event


def follow(command):
    frame = gdb.selected_frame() if command == "finish" else gdb.newest_frame()
    here = tamed(frame)
    if here is not None and not here.closure.threaded:
        return Step(command, here, here.line, here.frame.find_sal().last)
    if command in ("next", "step") and body_of_entry(frame):
        return Call(body_of_entry(frame))
    return None


def is_live():
    thread = gdb.selected_thread()
    return (thread is not None and thread.is_stopped()
            and gdb.selected_inferior().connection.type != "core")


def is_running():
    thread = gdb.selected_thread()
    return thread is not None and thread.is_running()


hooks = Hooks()


def function_at(address):
    """The name of the innermost function there, which may be inlined."""
    block = gdb.block_for_pc(address)
    while block is not None and block.function is None:
        block = block.superblock
    return block.function.name if block is not None else ""


def stop_once(breakpoint):
    """At a line with an mkevent: where the line begins, and not in the function that makes the event."""
    made = [x for x in breakpoint.locations if MADE.search(function_at(x.address))]
    if len(made) < len(breakpoint.locations):
        for location in made:
            if location.enabled:
                location.enabled = False


# Commands

class WeftCommand(gdb.Command):
    """Threads and tamed functions of Weft: weft threads, bt, thread, closures, chain, closure."""

    def __init__(self):
        super().__init__("weft", gdb.COMMAND_STACK, prefix=True)


class ThreadsCommand(gdb.Command):
    """Lists Weft's threads: number, name, state, color, what they wait for, where begun."""

    def __init__(self):
        super().__init__("weft threads", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        print("%-5s %-16s %-8s %-18s %-32s %s" % ("", "name", "state", "color", "waits for",
                                                  "started at"))
        for t in listed_threads():
            print("%-5d %-16s %-8s %#-18x %-32s %s" % (t.number, t.name, STATES[t.state], t.color,
                                                       t.waits_for(), t.where))


class BacktraceCommand(gdb.Command):
    """Shows the stack of a Weft thread: weft bt N|NAME|all."""

    def __init__(self):
        super().__init__("weft bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        if not argument:
            raise gdb.GdbError("weft bt N|NAME|all")
        gdb.newest_frame()
        frame = gdb.selected_frame().level()
        try:
            for t in find_threads(argument):
                waits = t.waits_for()
                print("thread %s: %s%s" % (t.title(), STATES[t.state],
                                           " for " + waits if waits else ""))
                show_stack(t)
        finally:
            gdb.execute("frame %d" % frame, to_string=True)


class ThreadCommand(gdb.Command):
    """Goes to a Weft thread that does not run, or back: weft thread N|NAME|off."""

    def __init__(self):
        super().__init__("weft thread", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        if argument == "off":
            unwinder.hide()
            return
        t = find_thread(argument)
        if t.state == RUNNING and t.kernel_thread() is not None:
            unwinder.hide()
            t.kernel_thread().switch()
        elif t.state in (READY, PARKED) and t.begun():
            unwinder.show(t)
            first_frame().select()
        else:
            raise gdb.GdbError("thread %s has no stack to look at" % t.title())
        gdb.execute("frame")


class ClosuresCommand(gdb.Command):
    """Lists tamed functions that wait: number, address, color, where."""

    def __init__(self):
        super().__init__("weft closures", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        print("%-5s %-18s %-18s %s" % ("", "address", "color", "function"))
        for c in all_closures():
            print("%-5d %#-18x %#-18x %s() %s" % (c.number, c.address, c.color, c.name, c.wait()))


class ChainCommand(gdb.Command):
    """Shows who waits for a tamed function, and who for those: weft chain N|ADDRESS."""

    def __init__(self):
        super().__init__("weft chain", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        closure = find_closure(argument)
        print("#%-3d %s() %s" % (0, closure.name, closure.wait()))
        for level, (waiter, made) in enumerate(waiters(closure, {closure.address}), 1):
            print("#%-3d %s() %s, for %s" % (level, waiter.name, waiter.wait(), made))


class ClosureCommand(gdb.Command):
    """Shows the variables that a tamed function has where it waits: weft closure N|ADDRESS."""

    def __init__(self):
        super().__init__("weft closure", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        closure = find_closure(argument)
        if not closure.is_known():
            raise gdb.GdbError("%s() has no debug information" % closure.name)
        scope = Scope(closure, closure.place()[1])
        print("%s() %s" % (closure.name, closure.wait()))
        for variable in named(scope, scope.parameters() + scope.locals()):
            print("%s = %s" % (variable.symbol(), variable.value().format_string(max_elements=20)))


class PrintCommand(gdb.Command):
    """Print value of expression EXP, with the variables of a tamed function. As gdb's own: see `help
    call`, which has the same options."""

    def __init__(self):
        super().__init__("print", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        # The builtin has a second name, which says nothing of void.
        options, expression = split_options(argument)
        before = history()
        with errors():
            gdb.execute("call " + options + with_members(expression), from_tty)
        if history() == before:
            print("$%d = void" % gdb.add_history(gdb.parse_and_eval("(void)0")))


class SetVariableCommand(gdb.Command):
    """Evaluate expression EXP and assign result to variable VAR, also of a tamed function."""

    def __init__(self):
        super().__init__("set variable", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        with errors():
            gdb.parse_and_eval(with_members(argument))


class WatchCommand(gdb.Command):
    """Stops when a variable of a tamed function changes, also while it waits: weft watch EXPRESSION."""

    def __init__(self):
        super().__init__("weft watch", gdb.COMMAND_BREAKPOINTS, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        with errors():
            gdb.Breakpoint(with_members(argument, everywhere=True), gdb.BP_WATCHPOINT)


class LocalsCommand(gdb.Command):
    """All local variables of current stack frame, and those that a tamed function has in its closure.
    Usage: info locals [-q] [-t TYPEREGEXP] [NAMEREGEXP]"""

    def __init__(self):
        super().__init__("info locals", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        frame = selected_with_symbols()
        here = tamed(frame)
        kept = named(here, here.locals()) if here else []
        show_variables("locals", argument, kept, own_locals(frame), frame)


class ArgumentsCommand(gdb.Command):
    """All argument variables of current stack frame, which a tamed function has in its closure.
    Usage: info args [-q] [-t TYPEREGEXP] [NAMEREGEXP]"""

    def __init__(self):
        super().__init__("info args", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        frame = selected_with_symbols()
        here = tamed(frame)
        kept = named(here, here.parameters()) if here else []
        show_variables("arguments", argument, kept, own_arguments(frame), frame)


class WeftFunction(gdb.Function):
    """$weft("EXPRESSION"): its value in the selected frame, which may be one of a tamed function."""

    def __init__(self):
        super().__init__("weft")

    def invoke(self, expression):
        with errors():
            return gdb.parse_and_eval(with_members(expression.string()))


def selected_with_symbols():
    try:
        frame = gdb.selected_frame()
    except gdb.error:
        raise gdb.GdbError("No frame selected.")
    if function_block_of(frame) is None:
        raise gdb.GdbError("No symbol table info available.")
    return frame


def history():
    """How much is in gdb's. Before version 13 it does not tell: then something else each time."""
    return gdb.history_count() if hasattr(gdb, "history_count") else object()


@contextlib.contextmanager
def errors():
    """Those of gdb are for the user, and no fault of a command here."""
    try:
        yield
    except gdb.error as error:
        raise gdb.GdbError(str(error))


def split_options(argument):
    """Format and options of print, and the expression."""
    match = re.match(r"/\w*\s*|-.*? -- ", argument)
    end = match.end() if match else 0
    return argument[:end], argument[end:]


class CoreCommand(gdb.Command):
    """Writes a core dump of the running program that has the stacks of Weft's threads: weft core
    FILE. gdb's own generate-core-file, and gcore, leave out all stacks after the first guard."""

    def __init__(self):
        super().__init__("weft core", gdb.COMMAND_FILES, gdb.COMPLETE_FILENAME)

    def invoke(self, argument, from_tty):
        if not argument:
            raise gdb.GdbError("weft core FILE")
        # to_string hides gdb's warnings about guards, which it cannot read.
        said = gdb.execute("generate-core-file " + argument, to_string=True)
        name = os.path.expanduser(argument)
        if "Failed to write" in said or not has_header(name):
            lines = dict.fromkeys(said.splitlines())  # each once
            raise gdb.GdbError("\n".join(
                x for x in lines if "Memory read failed" not in x and "Saved corefile" not in x))
        fill_in_stacks(name)
        print("saved core file " + argument)


def forget(event):
    """The program goes on: what was shown is past."""
    unwinder.shown = None
    function_name.cache_clear()


WeftCommand()
ThreadsCommand()
BacktraceCommand()
ThreadCommand()
ClosuresCommand()
ChainCommand()
ClosureCommand()
CoreCommand()
PrintCommand()
SetVariableCommand()
WatchCommand()
LocalsCommand()
ArgumentsCommand()
WeftFunction()
TamedFilter()
gdb.events.cont.connect(forget)
gdb.execute("skip -rfunction ^weft_tame_|" + MADE.pattern, to_string=True)
if hasattr(gdb, "BreakpointLocation"):
    gdb.events.breakpoint_created.connect(stop_once)
    gdb.events.breakpoint_modified.connect(stop_once)
if int(gdb.VERSION.split(".")[0]) >= 12:  # it can stop without a word
    gdb.events.stop.connect(hooks.note_stop)
    gdb.events.before_prompt.connect(hooks.after)
    for name in ("next", "step", "until", "advance", "finish"):
        gdb.execute("define hook-%s\npython hooks.before('%s')\nend" % (name, name))
        gdb.execute("define hookpost-%s\npython hooks.after()\nend" % name)
