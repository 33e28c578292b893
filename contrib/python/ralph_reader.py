#!/usr/bin/env python3
"""Reads the files of ralph: journals, inboxes and the registry.

A second implementation of docs/reference/format.md, written from that page alone and with nothing
but the standard library. It writes nothing. Numbers such as J-12 are requirements of the page.

    python3 ralph_reader.py journal|inbox|registry FOLDER

FOLDER is a case; 'ralph journal conformance -- python3 ralph_reader.py' runs them all. For journal it
may be a loop's own folder. As a module: verify(loop, []) yields the events of that, or raises Damage.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys

getattr(sys, "set_int_max_str_digits", id)(0)  # JSON bounds no number
NOT_JSON = (ValueError, RecursionError)

def parse(data):
    """Parses bytes as one JSON value in UTF-8, as RFC 8259 has it, or raises one of NOT_JSON."""
    return json.loads(data.decode("utf-8"), parse_constant=int)  # NaN and Infinity are no int

def is_text(value):
    return isinstance(value, str)

def is_whole(value, least=float("-inf")):
    return isinstance(value, int) and not isinstance(value, bool) and value >= least

def first_of(faults):
    """Returns the first key whose value is true; None if there is none."""
    return next((code for code, is_so in faults.items() if is_so), None)

CRC_TABLE = []
for number in range(256):
    for _ in range(8):
        number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
    CRC_TABLE.append(number)

def crc32c(data, crc):
    crc ^= 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF

# The journal: J-01 to J-30.

class Damage(Exception):
    """A journal does not contain what was written to it."""

    def __init__(self, code, segment=None, line=None):
        super().__init__(f"{segment}: line {line}: {code}" if segment else code)
        self.code, self.segment, self.line = code, segment, line

class Unsupported(Exception):
    """This machine cannot decompress a segment, or Python cannot parse a line."""

class Segment:
    def __init__(self, folder, ordinal, iteration, packed):
        self.ordinal, self.iteration, self.packed = ordinal, iteration, packed
        self.name = f"{ordinal:06d}-i{iteration:04d}.jsonl"
        self.path = os.path.join(folder, self.name + (".zst" if packed else ""))
        self.lines, self.first, self.last = 0, None, 0
        self.sealed, self.torn, self.sha256 = False, 0, hashlib.sha256()

    def damage(self, code, more=0):
        return Damage(code, self.name, self.lines + more)

    def read(self):
        """Returns the bytes, and whether more could not be decompressed (J-08)."""
        with open(self.path, "rb") as f:
            if not self.packed or not os.fstat(f.fileno()).st_size:
                return f.read(), False
            if not shutil.which("zstd"):
                raise Unsupported("zstd")
            done = subprocess.run(["zstd", "-dcq"], stdin=f, capture_output=True, check=False)
            return done.stdout, done.returncode != 0

def segments(folder):
    """J-01 to J-05: the segments of a journal, in their order."""
    found = {}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        match = re.fullmatch(r"([0-9]{6,})-i([0-9]{4,})\.jsonl(\.zst)?", name)
        if not match or int(match[1]) < 1:
            continue
        segment = Segment(folder, int(match[1]), int(match[2]), bool(match[3]))
        if os.path.basename(segment.path) != name:
            continue  # more zeros than it takes
        other = found.setdefault(segment.ordinal, segment)
        if other.name != segment.name:
            raise Damage("same-ordinal")
        if other.packed:
            found[segment.ordinal] = segment
    if not found:
        raise Damage("no-segment")
    return [found[ordinal] for ordinal in sorted(found)]

TIME = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3])(:[0-5][0-9]){2}\.[0-9]{6}Z")
ENVELOPE = {  # J-12
    "v": lambda value: is_whole(value, 0), "seq": lambda value: is_whole(value, 0), "cause": lambda value: is_whole(value, 0),
    "iter": is_whole, "at": lambda value: is_text(value) and TIME.fullmatch(value), "id": is_text, "by": is_text,
    "type": lambda value: is_text(value) and value != "",
}

def checksum(line, before):
    """J-16, J-17: the checksum of a line, and whether it has that one; None if it has none."""
    tail = re.fullmatch(rb',"crc":"([0-9a-f]{8})"\}', line[-18:])
    crc = crc32c(line[:-18], before) if tail else None
    return crc, tail is not None and int(tail[1], 16) == crc

def check_line(line, before, seq):
    """J-09 to J-17: the event of a line, its checksum, and the code of its first fault."""
    try:
        event = parse(line)
    except RecursionError as deep:  # a writer may use 10,000 levels, and this parser some 1,000
        raise Unsupported("nesting") from deep
    except ValueError:
        return None, None, "not-json"
    if not isinstance(event, dict):
        return None, None, "not-object"
    for key, value in event.items():
        if key in ENVELOPE and not ENVELOPE[key](value):
            return None, None, "envelope"
        if key == "v" and value != 1:
            return None, None, "version"
    (crc, right), number = checksum(line, before), event.get("seq")
    return event, crc, first_of({
        "envelope": number is None or "type" not in event, "seq-zero": number == 0,
        "seq": seq and number != seq + 1, "no-checksum": crc is None, "checksum": not right,
    })

def lost_block(line, offset):
    """J-28: a block of the disk never arrived."""
    begin = line.find(b"\0")
    end = len(line) - len(line[begin:].lstrip(b"\0"))
    return begin >= 0 and (begin == 0 or (offset + begin) % 512 == 0) and (offset + end) % 512 == 0

def read_segment(segment, last):
    """Yields the events of a segment that has no fault in itself: J-06 to J-18, J-21 to J-24."""
    data, broken = segment.read()
    offset, crc, seq = 0, 0, 0
    while (end := data.find(b"\n", offset)) >= 0:
        line = data[offset:end]
        event, after, code = check_line(line, crc, seq)
        if code:
            torn = code == "not-json" and last and not segment.packed and not checksum(line, crc)[1]
            if torn and (lost_block(line, offset) or end == len(data) - 1):
                break
            raise segment.damage(code, 1)
        segment.lines += 1
        crc, seq = after, event["seq"]
        code = check_place(segment, event, offset)
        if code:
            raise segment.damage(code)
        if event["type"] != "segment.sealed":
            segment.sha256.update(data[offset : end + 1])
        offset = end + 1
        segment.first = segment.first or seq
        yield event
        segment.last = seq
    segment.torn = len(data) - offset
    cut = segment.torn and (segment.packed or not last)
    code = first_of({"compression": broken, "segment-cut": cut, "segment-empty": not segment.lines})
    if code:
        raise segment.damage(code, 1)

def check_place(segment, event, offset):
    """J-18, J-21 to J-24: the code of what is wrong with an opening or a seal."""
    data = event.get("data") if isinstance(event.get("data"), dict) else {}
    opened, was = [event["type"], data.get("ordinal"), data.get("iteration")], segment.sealed
    segment.sealed = was or event["type"] == "segment.sealed"
    events, size, sha256 = data.get("events"), data.get("bytes"), data.get("sha256")
    return first_of({
        "after-seal": was,
        "opening": segment.lines == 1 and json.dumps(opened) != json.dumps(["segment.opened", segment.ordinal, segment.iteration]),
        "seal": segment.sealed and not (is_whole(events) and is_whole(size) and is_text(sha256)),
        "seal-counts": segment.sealed and (events, size) != (segment.lines - 1, offset),
        "seal-hash": segment.sealed and sha256 != segment.sha256.hexdigest(),
    })

def check_opening(segment, before, event):
    """J-05, J-15, J-19, J-20: the code of why a segment does not follow the one before it."""
    prev = event["data"].get("prev") if isinstance(event["data"].get("prev"), dict) else {}
    return first_of({
        "segment-missing": before.ordinal != segment.ordinal - 1,
        "prev-name": prev.get("name") != before.name,
        "prev-hash": (prev.get("sha256"), prev.get("sealed")) != (before.sha256.hexdigest(), before.sealed),
        "seq": event["seq"] != before.last + 1,
    })

BLOBS = {"loop.started": ("task", "text", "sha256"), "iteration.started": ("prompt", "sha256"), "tool.returned": ("blob",)}

def check_blobs(folder, event):
    """J-25, J-26: the code of what is wrong with the blobs that an event names."""
    value, raw = event.get("data"), event.get("raw")
    for key in BLOBS.get(event["type"], ("",)):
        value = value.get(key) if isinstance(value, dict) else None
    for name in value, raw["blob"] if isinstance(raw, dict) and set(raw) == {"blob", "bytes"} else None:
        if is_text(name) and re.fullmatch("[0-9a-f]{64}", name):
            if not os.path.isfile(os.path.join(folder, name)):
                return "blob-missing"
            with open(os.path.join(folder, name), "rb") as f:
                if hashlib.sha256(f.read()).hexdigest() != name:
                    return "blob-changed"
    return None

def verify(loop, found):
    """Yields each event of a loop's folder; found, a list, gets the segments that were read."""
    every = segments(os.path.join(loop, "journal"))
    for segment in every:
        for event in read_segment(segment, segment is every[-1]):
            code = check_opening(segment, found[-1], event) if segment.lines == 1 and found else None
            code = code or check_blobs(os.path.join(loop, "blobs"), event)
            if code:
                raise segment.damage(code)
            yield event
        found.append(segment)

class View:
    """What a list shows of a loop: the fold of its events (V-01 to V-12)."""

    def __init__(self):
        self.seq, self.at, self.started, self.rules, self.agent = 0, None, None, {}, {}
        self.ended = self.waiting = self.fenced = self.last = self.cost = None
        self.stopping = self.paused = self.unpriced = self.cost_unknown = False
        self.iteration, self.starting, self.refunded = 0, True, 0
        self.tokens_in = self.tokens_out = self.used = 0  # used: in this iteration
        self.unread = self.tokens_unknown = False  # unread: in this iteration
        self.commands, self.questions, self.answers = {}, {}, {}

    def fold(self, event):
        kind, data, at = event["type"], event.get("data") or {}, event.get("at")
        if kind == "loop.started":
            self.__init__()
            self.started = {"id": data["id"], "name": data["name"], "since": at}
            self.rules, self.agent = data.get("rules") or {}, data.get("agent") or {}
        elif kind in ("loop.configured", "loop.resumed"):
            self.rules, self.agent = data.get("rules") or self.rules, data.get("agent") or self.agent
            if kind == "loop.resumed":
                self.ended, self.waiting, self.stopping, self.paused = None, None, False, False
        elif kind == "agent.replaced":
            self.agent = dict(enumerate(self.rules.get("candidates") or [])).get(data["to"], self.agent)
        elif kind == "loop.ended":
            self.ended = data
        elif kind == "loop.fenced":
            self.fenced = data["host"]
        elif kind == "loop.waiting":
            second, _, fraction = data.get("until", "").rstrip("Z").partition(".")
            self.waiting = {"for": data["for"], "until": f"{second}.{fraction:0<6.6}Z" if second else None}
        elif kind == "loop.waited":
            self.waiting = None
        elif kind in ("loop.paused", "loop.unpaused"):
            self.paused = kind == "loop.paused"
        elif kind == "iteration.started":
            self.settle()
            self.iteration, self.starting = data["n"], data["n"] == 1
        elif kind == "iteration.ended":
            self.settle()
            self.last, self.starting = {"n": data["n"], "outcome": data["outcome"]}, False
            self.refunded += bool(data.get("refunded"))
        elif kind == "agent.exited" or kind == "effect.failed" and data["do"] == "agent.start":
            self.starting = False
        elif kind == "agent.started":
            self.starting = False
            self.cost_unknown = self.cost_unknown or not data.get("costs")
            self.unread = self.unread or bool(data.get("uncounted")) and self.used == 0
        elif kind == "agent.noticed":
            self.unread = self.unread or data["what"] == "agent/unread-usage"
        elif kind == "agent.used":
            usd, taken = data.get("usd"), data["in"] + data["cacheRead"] + data["cacheWrite"]
            self.cost = self.cost if usd is None else (self.cost or 0) + usd
            self.unpriced = bool(data.get("unpriced"))
            self.cost_unknown = self.cost_unknown or usd is None and not self.unpriced
            self.unread = self.unread and not (self.used == 0 and taken + data["out"] > 0)
            self.tokens_in, self.tokens_out = self.tokens_in + taken, self.tokens_out + data["out"]
            self.used += taken + data["out"]
        elif kind == "command.received":
            self.commands[data["id"]] = data["kind"]
        elif kind == "question.asked":
            self.questions[data["number"]] = True
        elif kind == "question.answered":
            self.questions[data["number"]], self.answers[data["command"]] = False, data["number"]
        elif kind in ("command.delivered", "command.refused", "command.withdrawn"):
            asked = self.commands.pop(data["id"], None)
            self.stopping = self.stopping or kind == "command.delivered" and asked in ("stop", "stop-now", "kill")
            number = self.answers.pop(data["id"], None)
            if kind == "command.refused" and number:
                self.questions[number] = True
        self.seq, self.at = event["seq"], at

    def settle(self):
        self.cost_unknown, self.unpriced = self.cost_unknown or self.unpriced, False
        self.tokens_unknown, self.unread, self.used = self.tokens_unknown or self.unread, False, 0

    def status(self):
        return self.ended["status"] if self.ended else first_of({
            "stopped": self.fenced, "stopping": self.stopping, "waiting": self.waiting, "paused": self.paused,
            "starting": self.iteration == 0 or self.starting, "running": True,
        })

    def answer(self):
        ended, status, known = self.ended or {}, self.status(), not (self.tokens_unknown or self.unread)
        return {
            **self.started, "seq": self.seq, "at": self.at, "status": status, "reason": ended.get("reason"),
            "strength": (ended.get("strength") or {}).get("strength"), "continuesOn": self.fenced,
            "iteration": self.iteration, "lastIteration": self.last, "refunded": self.refunded,
            "maximumIterations": self.rules.get("maximumIterations", 0), "agent": self.agent.get("name") or self.agent.get("protocol"),
            "cost": None if self.cost_unknown or self.unpriced else self.cost,
            "tokensIn": self.tokens_in if known else None, "tokensOut": self.tokens_out if known else None,
            "waiting": self.waiting if status == "waiting" else None, "commands": list(self.commands),
            "questions": [number for number, is_open in self.questions.items() if is_open],
        }

def read_journal(case):
    """J-30: the facts of a journal, and the view of its loop."""
    found, view, events = [], View(), 0
    try:
        for event in verify(case if os.path.isdir(os.path.join(case, "journal")) else os.path.join(case, "loop"), found):
            events += 1
            view.fold(event)
    except Damage as damage:
        return {"error": {key: value for key, value in vars(damage).items() if value is not None}}
    first, last = found[0], found[-1]
    facts = {"segments": len(found), "events": events, "firstSeq": first.first, "lastSeq": last.last}
    facts.update(sealed=last.sealed, sha256=last.sha256.hexdigest(), torn=last.torn)
    return {"journal": facts, "view": view.answer() if view.started and first.ordinal == 1 else None}

# The inbox: I-01 to I-15.

KINDS = "steer follow-up stop stop-now pause resume set kill wait blocked ask answer withdraw fence".split()
KEYS = {
    "v": is_whole, "id": is_text, "kind": is_text, "from": is_text, "at": is_text, "text": is_text, "key": is_text, "value": is_text,
    "choices": lambda value: isinstance(value, list) and all(map(is_text, value)), "blocks": lambda value: isinstance(value, bool),
    "question": is_whole, "host": is_text, "epoch": lambda value: is_whole(value, 0), "process": lambda value: isinstance(value, list),
}
ULID = re.compile("[0-7][0-9A-HJKMNP-TV-Z]{25}")

def name_of(name):
    """I-01, I-02: the id and the kind that a name has, and whether it is that of a claim."""
    stem, _, end = name.rpartition(".")
    head, _, tail = stem.partition(".")
    if end == "json" and (ULID.fullmatch(stem) or head in KINDS):
        return ("", head, False) if head in KINDS else (stem, "", False)
    if end == "claimed" and ULID.fullmatch(head) and (stem == head or tail in KINDS):
        return head, tail, True
    return "", "", False

def order(name):
    """I-11: commands with an id, then those without, then what is no command."""
    id_, kind, _ = name_of(name)
    return not id_, not (id_ or kind), id_, os.fsencode(name)

def read_file(path, limit):
    """Returns the bytes of a regular file, or None and what it is: a file, or too large."""
    info = os.lstat(path)
    if not stat.S_ISREG(info.st_mode) or info.st_size > limit:
        return None, "size" if stat.S_ISREG(info.st_mode) else "file"
    with open(path, "rb") as f:
        return f.read(), None

def read_command(path, name):
    """I-02 to I-09: the command in a file, and the code of the first fault."""
    id_, kind, _ = name_of(name)
    text, wrong = read_file(path, 1 << 20) if id_ or kind else (None, "name")
    if wrong:
        return None, "command-" + wrong
    try:
        command = parse(text) if text.strip() or not kind else {}
    except UnicodeDecodeError:
        return None, "command-utf8"
    except NOT_JSON:
        return None, "command-json"
    if not isinstance(command, dict) or not all(KEYS[key](value) for key, value in command.items() if key in KEYS):
        return None, "command-json"
    return command, first_of({
        "command-version": command.get("v", 1 if kind else 0) != 1,
        "command-id": command.get("id", "") != ("" if kind else id_),
        "command-kind": kind and command.setdefault("kind", kind) != kind,
    }) or fault(command)

def length(text):
    return len(text.encode("utf-8", "surrogatepass"))

def fault(command):
    """I-07 to I-09: the code of what a command lacks for its kind, or has too much of."""
    kind, text, host, choices = (command.get(key, "") for key in ("kind", "text", "host", "choices"))
    size, longest = length(text), max(map(length, choices), default=0)
    return first_of({
        "kind-unknown": kind not in KINDS,
        "text-missing": kind in ("steer", "follow-up", "ask", "answer") and not text.strip(),
        "key-missing": kind == "set" and not command.get("key"),
        "question-size": kind == "ask" and size > 2000, "choices-count": kind == "ask" and len(choices) > 16,
        "choice-empty": kind == "ask" and not all(map(str.strip, choices)), "choice-size": kind == "ask" and longest > 200,
        "question-missing": kind == "answer" and command.get("question", 0) < 1, "answer-size": kind == "answer" and size > 8000,
        "fence-incomplete": kind == "fence" and not (0 < length(host) <= 255 and command.get("epoch", 0) >= 2),
    })

def read_inbox(case):
    loop = os.path.join(case, "loop")
    known = {event["data"]["id"] for event in verify(loop, []) if event["type"] == "command.received"}
    answer = {"received": [], "repeated": [], "rejected": []}
    for part, prefix in ("inbox", ""), ("from-agent", "from-agent/"):
        folder = os.path.join(loop, part)
        names = os.listdir(folder) if os.path.isdir(folder) else []
        for name in sorted((n for n in names if n != "rejected" and not n.startswith(".")), key=order):
            id_, _, claimed = name_of(name)
            command, code = read_command(os.path.join(folder, name), name)
            if not code and prefix and command["kind"] not in ("ask", "wait", "blocked"):
                code = "agent-may-not"
            if not code and id_ and not claimed and id_ + ".claimed" in names:
                code = "command-twice"
            if code:
                answer["rejected"].append({"file": prefix + name, "code": code})
            elif id_ in known:
                answer["repeated"].append(id_)
            else:
                command["from"] = "a file" if command.get("from") == "signal" else command.get("from")
                receipt = {key: command[key] for key in KEYS if key not in ("v", "at", "process") and command.get(key)}
                answer["received"].append({**receipt, "id": id_ or None})
    return answer

# The registry.

def read_entry(path, name):
    """R-01 to R-03: the entry in a file, or the code of what is wrong with it."""
    text, wrong = read_file(path, 64 << 10)
    if wrong:
        return None, "entry-unreadable"
    entry, keys = parse_object(text), "name dir project id agent host version started mount parent".split()
    if entry is None or not all(is_text(entry.get(key, "")) for key in keys) or not is_whole(entry.get("pid", 0)):
        return None, "entry-json"
    loop, folder, project = entry.get("name", ""), entry.get("dir", ""), entry.get("project", "")
    slug, fnv = re.sub("-?[^a-zA-Z0-9._-]+", "-", project)[-100:].lstrip("-"), 0xCBF29CE484222325
    for byte in os.fsencode(project):
        fnv = (fnv ^ byte) * 0x100000001B3 % (1 << 64)
    reserved = loop in ("settings.json", "settings.local.json", "archive", "session") or loop.endswith(".lock")
    return entry, first_of({
        "entry-name": reserved or not re.fullmatch("[a-z0-9][a-z0-9._-]{0,63}", loop),
        "entry-folder": not (folder.startswith("/") and project.startswith("/")),
        "entry-file": name != f"--{slug}-{fnv >> 16:012x}--{loop}.json",
    })

def parse_object(text):
    """Returns a JSON object; None for what is none."""
    try:
        value = parse(text)
    except NOT_JSON:
        return None
    return value if isinstance(value, dict) else None

def is_held(path):
    """R-04, R-05: whether another process has an exclusive lock on a file."""
    try:
        with open(path, "rb") as f:
            fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (FileNotFoundError, BlockingIOError) as error:
        return isinstance(error, BlockingIOError)
    return False

def read_status(path):
    """R-06: the status in a state.json; None if there is no such file."""
    if not os.path.lexists(path):
        return None
    text, _ = read_file(path, 8 << 20)
    for part in (text or b"").split(b"\n")[0] + b"}", text or b"":
        status = (parse_object(part) or {}).get("status")
        if status and is_text(status):
            return status
    return "unknown"

def read_registry(case):
    folder, entries = os.path.join(case, "home", "registry"), []
    for name in sorted(name for name in os.listdir(folder) if not name.startswith(".")):
        entry, code = read_entry(os.path.join(folder, name), name)
        if code:
            entries.append({"file": name, "code": code})
            continue
        loop = os.path.join(case, "root") + entry["dir"]
        alive, found = is_held(os.path.join(loop, "run.lock")), read_status(os.path.join(loop, "state.json"))
        status = "starting" if alive and found in (None, "unknown") else found or "unknown"
        died = not alive and status in ("starting", "running", "waiting", "paused", "stopping")
        gone = not alive and found is None and not os.path.lexists(loop)
        entries.append({"file": name, "name": entry["name"], "alive": alive, "died": died, "gone": gone, "status": status})
    return {"entries": entries}

READERS = {"journal": read_journal, "inbox": read_inbox, "registry": read_registry}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in READERS:
        sys.exit(__doc__)
    try:
        print(json.dumps(READERS[sys.argv[1]](sys.argv[2])))
    except Unsupported as missing:
        print(json.dumps({"unsupported": str(missing)}))
