"""Verify games of an Annals service without its code: this file and Python 3.11 or newer are enough.

    python3 annals_verify.py game.jsonl                     an export alone, of a game or a tournament
    python3 annals_verify.py game.jsonl --head HASH         and its head, which you have from elsewhere
    python3 annals_verify.py game.jsonl --mailbox FILE      and the mailbox of a seat; --joint FILE: joint chance
    python3 annals_verify.py game.jsonl --proof record.tlog-proof --key VKEY --witness VKEY
    python3 annals_verify.py --checkpoint new.txt --checkpoint old.txt --consistency path.json --key VKEY

Exit status: 0 everything checked holds, 1 something is FALSE (the first fault is named), 2 wrong use, or UNDECIDED:
these files prove nothing, and the line says what to fetch. An export has a header, a line per record, and in newer
files a last line with the head. A public part names the hash of the one before, so a head, the hash of a record, fixes
all up to it. Packs are for circles of readers; `seals` has their hashes.
"""

import argparse
import base64
import hashlib
import hmac
import io
import json
import sys
from collections import namedtuple
from itertools import count, pairwise
from pathlib import Path

LONGEST = 64 << 20  # bytes of a line
KEYS = "/.well-known/annals-log-keys"
UNDECIDED = ("_malformed", "_unknown", "no_export", "no_path", "other_log")  # ends of codes: nothing is false


class Fault(Exception):
    """The first thing that is false: its code, and the version of the record (0: the file as a whole)."""

    def __init__(self, code, detail="", version=0):
        super().__init__(code)
        self.code, self.detail, self.version = code, str(detail)[:200], version


def ensure(right, code, detail="", version=0):
    """Raise Fault unless this is right."""
    if not right:
        raise Fault(code, detail, version)


def canonical(doc):
    """Return JSON in UTF-8 with sorted keys and no white space: equal content has equal bytes."""
    return json.dumps(doc, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


# --- chance: a draw is HMAC-SHA256(key, game | epoch | channel | ordinal | label | try) ---
def below(n, key, *place):
    """Return the number from 0 to n-1 that the key gives for this place."""
    texts = ("|".join(map(str, [*place, attempt])).encode() for attempt in count())
    values = (int.from_bytes(hmac.digest(key, text, "sha256")[:8], "big") for text in texts)
    return next(value % n for value in values if value < (1 << 64) // n * n)


def draw_is_right(draw, key, *place):
    """Check a roll [ordinal, label, [lo, hi], value], pick [.., n, value, index] or shuffle [.., n, values, order]."""
    ordinal, label, span, value, *drawn = draw
    if isinstance(span, list):
        return value == span[0] + below(span[1] - span[0] + 1, key, *place, ordinal, label)
    if not isinstance(drawn[0], list):
        return drawn == [below(span, key, *place, ordinal, label)]
    order = list(range(len(drawn[0])))
    for i in range(len(order) - 1, 0, -1):
        j = below(i + 1, key, *place, ordinal, f"{label}#{i}")
        order[i], order[j] = order[j], order[i]
    return drawn == [order] and span == len(order)


def joint_rounds(doc, game):
    """Return version -> [what is mixed with the seed]; each nonce must fit a commitment made a round before."""
    rounds, due, gone = {}, doc["commitments"], set[str]()
    for number, each in enumerate(doc["rounds"], 1):
        nonces, version, withheld = each["nonces"], each["version"], set(map(str, each["withheld"]))
        shown = {seat: sha256(canonical([game, int(seat), number, nonce])) for seat, nonce in nonces.items()}
        ensure(version not in rounds and each["round"] == number and doc["game"] == game, "round_gap", "", version)
        right = withheld <= due.keys() and shown == {seat: due[seat] for seat in due.keys() - withheld}
        ensure(right, "nonce_mismatch", "", version)
        due, gone = each["commitments"], gone | withheld
        ensure(not gone & due.keys(), "withheld_before", "", version)
        rounds[version] = ["joint", number, [[int(seat), nonces[seat]] for seat in sorted(nonces, key=int)]]
    return rounds


# --- one game; a rewind takes back: draws by channel, open decisions (number, timer) with the current one last, of each
# timer its first time and the ms by which its deadline was moved, seats without a player ---
Line = namedtuple("Line", "counts frames timers vacant")


class Game:
    """Checks the records of one export in turn, then the whole."""

    def __init__(self, header):
        self.header, self.version, self.closed = header, 0, False
        self.line, self.lines, self.seals, self.packs = Line({}, (), {}, frozenset()), {}, [], []
        self.players, self.talk = {}, []  # seat -> [hash of its nonce, its nonce]; roots of the mailboxes
        self.epoch, self.seed_hash, self.seed, self.lapses, self.untold = 0, "", b"", 0, 0
        self.fastest, self.times_untold, self.started = None, False, False
        self.drawn, self.salts = [], []  # (version, nonces, epoch, channel, draw), (version, key, salt): for the seed

    def add(self, doc):
        """Check one record; raise Fault."""
        public, packs, kind, body = doc["public"], doc["packs"], doc["public"]["kind"], doc["public"].get("body", {})
        ensure(set(doc) == {"public", "packs"} and not self.closed, "malformed")
        self._check_packs(public, packs)
        self.talk.append(public.get("talk", ""))
        if kind == "rewound":
            ensure(body["to"] in self.lines, "not_on_line")
            self.line, self.epoch = self.lines[body["to"]], self.epoch + (body["entropy"] == "fresh")
            self.lines = {v: line for v, line in self.lines.items() if v <= body["to"]}
        self._count_draws(public, packs)
        if kind == "lapsed":
            self._check_lapse(public, packs)
        self._follow_seats(kind, public.get("seat"), body)
        self._follow_decisions(kind, public, body)
        if kind == "closed":
            self.seed, self.closed = bytes.fromhex(body["seed"]), True
            ensure(sha256(self.seed) == self.seed_hash, "seed_mismatch")
        self.lines[self.version] = self.line

    def _check_packs(self, public, packs):
        seals = list(public.get("seals", []))
        self.seals.append(frozenset(seals))
        self.packs.append((self.version, list(packs), len(packs) == len(seals)))
        for key, pack in packs.items():
            seal = sha256(canonical(pack))
            padding = "." * (-len(canonical({**pack, "pad": ""})) % 256)
            ensure(seal in seals and pack["pad"] == padding, "pack_changed", key)
            seals.remove(seal)
            self.salts.append((self.version, key, pack["salt"]))
        for opening in public.get("openings", []):
            at, pack = opening["v"], opening["pack"]
            ensure(1 <= at <= self.version and sha256(canonical(pack)) in self.seals[at - 1], "opening_false")
            self.salts.append((at, opening["key"], pack["salt"]))

    def _count_draws(self, public, packs):
        """Check that no ordinal of a channel is left out or used twice, and keep the draws for the seed."""
        counts = dict(self.line.counts)
        nonces = [[seat, nonce] for seat, (_, nonce) in sorted(self.players.items()) if nonce]
        for channel, part in [("all", public), *packs.items()]:
            for draw in part.get("draws", []):
                ensure(draw[0] == counts.get(channel, 0), "draw_mismatch", f"{draw[1]}: ordinal")
                counts[channel] = draw[0] + 1
                self.drawn.append((self.version, nonces, self.epoch, channel, draw))
        self.line = self.line._replace(counts=counts)

    def _check_lapse(self, public, packs):
        """Check that no default was played before the table's shortest deadline could have passed."""
        seats = {seat for seat, _ in public.get("acts", [])}
        seats |= {seat for pack in packs.values() for _, seat, _ in pack.get("acts", [])}
        present = seats - self.line.vacant
        if not seats or (present and self.times_untold):
            self.untold += 1
        elif present:
            asked_at, moved = self.line.timers[self.line.frames[-1][1]]
            ensure(self.fastest is not None and public["at"] >= asked_at + self.fastest + moved, "lapsed_early")
            self.lapses += 1

    def _follow_seats(self, kind, seat, body):
        if kind == "opened":
            self.seed_hash, self.seats = body["seed_hash"], body["seats"]
            viewer = self.header["viewer"]
            seated = viewer in ("public", "director") or (viewer.isdecimal() and int(viewer) < body["seats"])
            ensure(seated and all(body[n] == self.header[n] for n in ("game", "ruleset")), "header_mismatch")
        elif kind == "joined":
            self.players[seat] = [body.get("nonce_hash", ""), self.players.get(seat, ["", ""])[1]]
        elif kind == "left" and not self.started:
            self.players.pop(seat, None)
        elif kind == "revealed":
            self.players[seat][1] = body["nonce"]
            ensure(sha256(bytes.fromhex(body["nonce"])) == self.players[seat][0], "nonce_mismatch")
        self.started = self.started or kind == "started"

    def _follow_decisions(self, kind, public, body):
        """Follow the open decisions, the time of each, the vacant seats and the table's shortest deadline."""
        counts, frames, timers, vacant = self.line
        pace = body.get("pace")
        if isinstance(pace, dict) and pace["seconds"]:
            shortest = (min(pace["seconds"].values()) + pace.get("grace", 0)) * 1000
            self.fastest = min(shortest, self.fastest or shortest)
        self.times_untold |= isinstance(pace, str) and pace != "none"  # the record names a pace, not its seconds
        if kind == "ruled" and body.get("act") == "extend":
            number = int(body["decision"].partition("-")[2])
            for timer in [timer for n, timer in frames if n == number]:  # none that was open when a fork began
                timers = {**timers, timer: (timers[timer][0], timers[timer][1] + body["ms"])}
        for fact in public.get("facts", []):
            if fact["t"] == "asked":
                timer = fact.get("timed_as") or fact["n"]
                frames = (*frames, (fact["n"], timer))
                timers = {**timers, timer: (fact.get("timed_as") and timers.get(timer)) or (public["at"], 0)}
            elif fact["t"] == "ended":
                frames = frames[:-1]
            elif fact["t"] in ("vacated", "seated"):
                vacant = vacant - {fact["seat"]} if fact["t"] == "seated" else vacant | {fact["seat"]}
            elif fact["t"] in ("patched", "restored"):  # a scenario or fork: its decisions may be anything
                self.times_untold = True
        self.line = Line(counts, frames, {timer: timers[timer] for _, timer in frames}, vacant)

    def finish(self, joint=None):
        """Check that no pack is missing, and with the seed each draw and salt; return what was checked, and not."""
        viewer, game = self.header["viewer"], self.header["game"]
        reads_all = self.closed or viewer == "director"
        for version, keys, whole in self.packs:
            ensure(whole or not reads_all, "pack_missing", "", version)
            foreign = not reads_all and any(viewer not in key.partition(":")[0].split(",") for key in keys)
            ensure(not foreign, "header_mismatch", "a pack that the viewer may not read", version)
        rounds = joint and joint_rounds(joint, game)
        for version, nonces, epoch, channel, draw in self.drawn if self.closed else ():
            ensure(not rounds or version in rounds, "round_missing", draw[1], version)
            mixed, place = (rounds[version], (game, 0)) if rounds else (nonces, (game, epoch))
            key = hmac.digest(self.seed, canonical(mixed), "sha256")
            ensure(draw_is_right(draw, key, *place, channel), "draw_mismatch", draw[1], version)
        for version, key, salt in self.salts if self.closed else ():
            right = hmac.digest(self.seed, f"salt|{game}|{version}|{key}".encode(), "sha256").hex()[:32]
            ensure(salt == right, "salt_mismatch", key, version)
        done = [f"the chain of {self.version} records", f"{len(self.salts)} packs against their seals"]
        left = ["the rules: whether each move was allowed", "time banks, holds, vacations, pauses, daily hours"]
        done += ["the seed, and every salt", f"{len(self.drawn)} draws"] * self.closed
        left += [f"{len(self.drawn)} draws: the seed is published when the game is closed"] * (not self.closed)
        done += [f"{self.lapses} missed deadlines: none too early"] * (self.lapses > 0)
        return done, left + [f"{self.untold} missed deadlines: the record tells no time"] * (self.untold > 0)


# --- one tournament: everything is public; its pods and standings take the service's own verifier ---
class Tournament:
    """Checks the records of a tournament in turn: their chain, and that of the secrets; nonces; keys of the draws."""

    def __init__(self, header):
        self.header, self.version, self.closed = header, 0, False
        self.secrets, self.present, self.hidden, self.shown, self.status = [], [], {}, {}, "registering"

    def add(self, public):
        kind, body = public["kind"].removeprefix("tournament."), public.get("body", {})
        if kind == "opened":
            ensure(body["tournament"] == self.header["tournament"], "header_mismatch")
            self.secrets = [body["secret"]]
        elif kind == "entered" and self.status == "running":
            self.present = [*self.present, body["entrant"]]
        elif kind == "checkin_opened":
            self.status, self.hidden, self.shown = "checking", {}, {}
        elif kind == "checked":
            self.hidden[body["entrant"]] = body.get("nonce_hash", "")
        elif kind == "checkin_closed":
            self.status, self.present = "drawing", body["entrants"]
            ensure(set(self.present) <= set(self.hidden), "not_checked_in")
        elif kind == "revealed":
            ensure(sha256(body["nonce"].encode()) == self.hidden[body["entrant"]], "nonce_mismatch")
            self.shown[body["entrant"]] = body["nonce"]
        elif kind == "drawn":
            self._check_draw(body, bytes.fromhex(body["secret"]))
        elif kind == "paired":
            self.status = "running"
        elif kind == "advanced":
            self.present, self.status = body["entrants"], "checking" if self.status == "checking" else "running"
            self.hidden = {entrant: found for entrant, found in self.hidden.items() if entrant in self.present}

    def _check_draw(self, body, secret):
        """Each secret is the SHA-256 of the next; with the nonces it gives the key of its draw."""
        ensure(sha256(secret) == self.secrets[-1] and body["draw"] == len(self.secrets), "secret_mismatch")
        self.secrets.append(body["secret"])
        nonces = sha256(canonical([[entrant, self.shown.get(entrant, "")] for entrant in sorted(self.present)]))
        text = canonical(["annals/draw/1", self.header["tournament"], body["round"], body["draw"], nonces])
        ensure(hmac.digest(secret, text, "sha256").hex() == body["key"], "key_mismatch")

    def finish(self, _):
        done = [f"the chain of {self.version} records", f"the secrets and keys of {len(self.secrets) - 1} draws"]
        return done, ["pods, seats and standings: `annals tournament verify` computes them again"]


def verify_export(lines, head="", joint=None):
    """Check an export, lines as bytes, and a transcript of joint chance; return its Game or Tournament; raise Fault."""
    lines, number, time, hashes, trailer = iter(lines), 0, 0, [""], None
    raw = next(lines, b"")
    ensure(raw.startswith(b'{"annals":'), "no_export", "packed, or another file: download /v1/games/GAME/export")
    try:
        header = json.loads(raw)
        kind, names = (Tournament, {"tournament"}) if "tournament" in header else (Game, {"game", "ruleset", "viewer"})
        known = header["annals"] == 1 and header.keys() - {"damaged"} == names | {"annals", "records"}
        known = known and header.get("damaged", header["records"] + 1) == header["records"] + 1
        ensure(known, "header_mismatch", "no header of an export, or a newer one: download /v1/verifier.py again")
        game = kind(header)
        while raw:
            doc = json.loads(raw, parse_float=int, parse_constant=int)  # int refuses both
            sound = canonical(doc) + b"\n" == raw and len(raw) <= LONGEST
            ensure(sound, "unreadable", "not canonical JSON: another program has changed the file")
            ensure(trailer is None, "cut_off", "a line after the last")
            if "head" in doc:
                trailer = doc
            elif number:
                public, game.version = doc.get("public", doc), number
                ensure(public["v"] == number, "version_gap")
                ensure(public["prev"] == hashes[-1], "chain_broken")
                ensure((public["kind"] in ("opened", "tournament.opened")) == (number == 1), "no_beginning")
                ensure(type(public["at"]) is int and public["at"] >= time, "time_goes_back")
                game.add(doc)
                hashes.append(sha256(canonical(public)))
                time = public["at"]
            raw, number = next(lines, b""), number + 1
        here = f"{game.version} of {header['records']} records are here: download the file again"
        ensure(game.version == header["records"] > 0, "cut_off", here)
        game.checked, game.unchecked = game.finish(joint)
    except Fault as fault:
        raise Fault(fault.code, fault.detail, fault.version or number) from None
    except (LookupError, TypeError, ValueError, AttributeError, StopIteration, ArithmeticError, RuntimeError) as error:
        raise Fault("malformed", f"{type(error).__name__}: {error}"[:80] + "; is the file whole?", number) from None
    last = trailer in (None, {"head": hashes[-1], "records": game.version})
    ensure(last, "chain_broken", "the last line names another head", game.version)
    known = not head or head in hashes
    ensure(known or not game.closed, "chain_broken", "no record has this head: is it of this game?", game.version)
    newer = f"the file ends at record {game.version}: download it again; if a new one lacks this head too"
    ensure(known, "head_unknown", f"{newer}, the head is of another game")
    game.hashes = hashes[1:]
    return game


# --- Ed25519 (RFC 8032), verification alone; points are (x, y) ---
P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def _add(a, b):
    k, x, y = D * a[0] * b[0] * a[1] * b[1], a[0] * b[1] + a[1] * b[0], a[1] * b[1] + a[0] * b[0]
    return x * pow(1 + k, -1, P) % P, y * pow(1 - k, -1, P) % P


def _times(n, point):
    out = (0, 1)
    while n:
        out, point, n = _add(out, point) if n & 1 else out, _add(point, point), n >> 1
    return out


def _point(data):
    """Return the point of 32 bytes; raise ValueError if there is none."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x * pow(2, (P - 1) // 4, P) % P if (x * x - square) % P else x
    if y >= P or (x * x - square) % P or (not x and sign):
        raise ValueError("no point")
    return P - x if x & 1 != sign else x, y


BASE = _point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def ed25519_is_valid(key, message, signature):
    """Return whether 64 bytes are this key's signature of the message."""
    try:
        s, a, r = int.from_bytes(signature[32:], "little"), _point(key), _point(signature[:32])
    except ValueError:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little")
    return len(key) == 32 and len(signature) == 64 and s < L and _times(s, BASE) == _add(r, _times(k % L, a))


# --- checkpoints of the log of all games: signed-note, tlog-checkpoint, tlog-cosignature and tlog-proof of C2SP ---
class Checkpoint:
    """A checkpoint signed by at least one of the verifier keys, and by every witness; `signers` names them."""

    def __init__(self, note, vkeys, witnesses=()):
        body, separator, lines = note.strip().rpartition("\n\n")
        try:
            self.origin, size, root, *_ = body.split("\n")
            self.size, self.root = int(size), base64.b64decode(root, validate=True)
            signatures = [line.split() for line in lines.splitlines()]
            signatures = [(dash, name, base64.b64decode(data, validate=True)) for dash, name, data in signatures]
            sound = str(self.size) == size and len(self.root) == 32 and separator
        except ValueError:
            sound = False
        ensure(sound, "checkpoint_malformed", "download /v1/log/checkpoint")
        self.signers, self.unchecked, known = [], [], dict(map(read_vkey, vkeys))
        for dash, name, data in signatures:
            kind, key = known.get((name, data[:4]), (0, b"")) if dash == "\u2014" else (0, b"")
            text, signature = f"{body}\n".encode(), data[4:]
            if kind == 4:  # a witness signs the time as well
                time, signature = int.from_bytes(signature[:8], "big"), signature[8:]
                text = f"cosignature/v1\ntime {time}\n".encode() + text
            if kind == 6:  # ML-DSA-44 is not in the standard library
                self.unchecked.append(name)
            elif kind:
                ensure(ed25519_is_valid(key, text, signature), "signature_false", name)
                self.signers.append(name)
        wanted = " or ".join(vkey.split("+")[0] for vkey in vkeys)
        found = " and ".join(sorted({name for _, name, _ in signatures}))
        ensure(self.signers or not self.unchecked, "key_unknown", f"no ML-DSA here: take a short key of {KEYS}")
        ensure(self.signers, "not_signed", f"not signed with this key of {wanted}, but by {found}; see {KEYS}")
        self.signers += [name for vkey in witnesses for name in Checkpoint(note, [vkey]).signers]


def read_vkey(vkey):
    """Return ((name, key id), (kind, key)) of a verifier key, `name+id+base64`; raise Fault."""
    try:
        name, key_id, data = vkey.strip().split("+", 2)
        kind, *key = base64.b64decode(data, validate=True)
        right = hashlib.sha256(name.encode() + b"\n" + bytes([kind, *key])).digest()[:4]
        sound = bytes.fromhex(key_id) == right and kind in (1, 4, 6)
    except ValueError:
        sound = False
    ensure(sound, "key_malformed", f"{vkey[:80]}: take a short one of {KEYS}")
    return (name, right), (kind, bytes(key))


def _climb(fn, sn, node, path):
    """Return the roots of the old and the new tree that a path leads to (RFC 9162, sections 2.1.3.2 and 2.1.4.2)."""
    before = after = node
    for step in path:
        if sn == 0:
            return b"", b""
        left = fn & 1 or fn == sn
        after = hashlib.sha256(b"\x01" + (step + after if left else after + step)).digest()
        before = hashlib.sha256(b"\x01" + step + before).digest() if left else before
        while left and not fn & 1 and fn:
            fn, sn = fn >> 1, sn >> 1
        fn, sn = fn >> 1, sn >> 1
    return (b"", b"") if sn else (before, after)


def consistency_is_valid(old, new, path):
    """Return whether the path proves that the new log begins with the old one."""
    if old.size == new.size or not 0 < old.size < new.size or not path:
        return old.size == new.size and old.root == new.root and not path
    fn, sn = ((size - 1) // (old.size & -old.size) for size in (old.size, new.size))
    first, *path = path if fn else [old.root, *path]
    return _climb(fn, sn, first, path) == (old.root, new.root)


def verify_proof(text, vkeys, hashes, witnesses=()):
    """Check a tlog-proof of one of these records; return its Checkpoint and the record's version. Raise Fault."""
    head, _, note = text.partition("\n\n")
    try:
        first, index, *path = [line for line in head.split("\n") if not line.startswith("extra ")]
        word, _, number = index.partition(" ")
        number, path = int(number), [base64.b64decode(line, validate=True) for line in path]
        sound = (first, word) == ("c2sp.org/tlog-proof@v1", "index") and len(path) <= 63
    except ValueError:
        sound = False
    ensure(sound, "proof_malformed", "download it with the header Accept: text/plain")
    checkpoint = Checkpoint(note, vkeys, witnesses)
    for version in range(len(hashes), 0, -1):
        leaf = hashlib.sha256(b"\0" + bytes.fromhex(hashes[version - 1])).digest()
        if 0 <= number < checkpoint.size and _climb(number, checkpoint.size - 1, leaf, path)[1] == checkpoint.root:
            return checkpoint, version
    raise Fault("proof_false", f"at that place of the log is none of the records 1 to {len(hashes)} of this game")


def check_mailbox(docs, game):
    """Check the mailbox of a seat against its verified game, and return what it proves; raise Fault."""
    entries, heads, most = docs[1 : docs[0]["entries"] + 1], [""], 0
    ensure(len(docs) == len(entries) + game.version + 1, "mailbox_cut_off", "download it, and the export after it")
    for each in entries:
        ensure("message" not in each or sha256(canonical(each["message"])) == each["commitment"], "commitment_differs")
        heads.append(sha256(canonical([heads[-1], each["commitment"]])))
    for version, anchor in enumerate(docs[len(entries) + 1 :], 1):
        leaf = hashlib.sha256(canonical([anchor["blind"], heads[anchor["entry"]]])).digest()
        path, leaf = map(bytes.fromhex, anchor["path"]), hashlib.sha256(b"\0" + leaf).digest()
        root = _climb(docs[0]["seat"], game.seats - 1, leaf, path)[1].hex()
        ensure(root == game.talk[version - 1] != "" and anchor["entry"] >= 0, "anchor_differs", "", version)
        seen = {each["message"]["seen"] for each in entries[most : anchor["entry"]] if "message" in each}
        ensure(seen <= set(game.hashes[: version - 1]), "seen_later", "", version)
        most = max(most, anchor["entry"])
    return f"{len(entries)} messages, {sum('message' in each for each in entries)} with their words, {most} anchored"


# --- the command line ---
def read_lines(name):
    """Yield the lines of a file, also if another program has changed letters or line ends; - is standard input."""
    with Path(name).open("rb") if name != "-" else sys.stdin.buffer as file:
        letters = "utf-16" if file.peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        text = io.TextIOWrapper(file, letters, "replace")
        yield from iter(lambda: text.readline(LONGEST + 1), "")


def compare_logs(notes, documents):
    """Yield that the log of each checkpoint begins with that of a smaller one; raise Fault."""
    for old, new in pairwise(sorted(notes, key=lambda note: note.size)):
        ensure(old.origin == new.origin, "other_log", f"checkpoints of two logs, {old.origin} and {new.origin}")
        paths = [doc["path"] for doc in documents if "path" in doc and doc.get("size", new.size) == new.size]
        paths = [[]] if old.size == new.size else paths
        sizes, way = f"sizes {old.size} and {new.size}", f"--consistency takes /v1/log?since={old.size}&size={new.size}"
        ensure(paths, "no_path", f"no proof between {sizes}: {way}")
        right = any(consistency_is_valid(old, new, list(map(bytes.fromhex, path))) for path in paths)
        ensure(right, "forked", f"no proof that the logs of {sizes} are one: {way}")
        yield f"the log of {new.size} records begins with that of {old.size}"


def verify(args):
    """Return what was checked, what was not, and the game; raise Fault."""
    done, left, game, hashes = [], [], None, []
    head = args.head.strip(" \r\n\"'").lower()
    ensure(len(head) in (0, 64) and not head.strip("0123456789abcdef"), "head_malformed", "64 hex digits are a head")
    if args.export:
        lines = (line.rstrip("\n").encode() + b"\n" for line in read_lines(args.export) if line.strip())
        game = verify_export(lines, head, args.joint and json.loads("".join(read_lines(args.joint))))
        done, left, hashes = game.checked, game.unchecked, game.hashes
    if args.mailbox:
        done.append(check_mailbox([*map(json.loads, read_lines(args.mailbox))], game))
    if head:
        version = hashes.index(head) + 1
        later = f"; {version + 1} to {game.version} came later" if version < game.version else ""
        done.append(f"records 1 to {version} are the game that this head names{later}")
    notes = [Checkpoint("".join(read_lines(name)), args.key, args.witness) for name in args.checkpoint]
    if args.proof:
        proved, version = verify_proof("".join(read_lines(args.proof)), args.key, hashes, args.witness)
        done, notes = [*done, f"record {version} is in the log of {proved.size} records"], [*notes, proved]
        later = version < len(hashes)
        left += [f"records {version + 1} to {len(hashes)}: the proof is of record {version}"] * later
    told = "the checkpoint of {0.origin} with {0.size} records: signed by {1}"
    done += [told.format(note, name) for note in notes for name in note.signers]
    left += [f"the ML-DSA signature of {name}" for note in notes for name in note.unchecked]
    done += compare_logs(notes, [json.loads("".join(read_lines(name))) for name in args.consistency])
    alone = "whether this game was played: without a head from elsewhere a file proves only itself"
    return done, left + [alone] * bool(game and not (head or args.proof)), game


def main(argv):
    """Verify the files that the arguments name, print the result, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("export", nargs="?", help="export of a game, - for standard input")
    for name in ("head", "proof", "joint", "mailbox"):
        parser.add_argument(f"--{name}", default="")
    for name in ("key", "witness", "checkpoint", "consistency"):
        parser.add_argument(f"--{name}", action="append", default=[])
    args = parser.parse_args(argv)
    signed, of_game = args.proof or args.checkpoint, args.proof or args.head or args.mailbox or not args.checkpoint
    if (of_game and not args.export) or bool(signed) != bool(args.key) or (args.witness and not signed):
        parser.error("name an export, or a checkpoint; --key goes with --proof and --checkpoint")
    try:
        done, left, game = verify(args)
    except (Fault, OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        fault = error if isinstance(error, Fault) else Fault("file_unknown", f"{error}: is this the file to give?")
        is_undecided, place = fault.code.endswith(UNDECIDED), f"record {fault.version}: " if fault.version else ""
        print("UNDECIDED:" if is_undecided else "FALSE:", f"{place}{fault.code} ({fault.detail})")
        return 2 if is_undecided else 1
    names = [f"{word} {game.header[word]}" for word in ("game", "tournament") if word in game.header] if game else []
    title = f"HOLDS: {names[0]}, head {game.hashes[-1]}" if game else "HOLDS"
    print(title, *(f"  checked: {text}" for text in done), *(f"  not checked: {text}" for text in left), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
