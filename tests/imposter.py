"""Programs that stand where a Redis should, and answer something else."""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

Answer = Callable[[bytes], bytes]
_CHANCE = random.Random(7)


def numbers(asked: bytes) -> bytes:
    """One for each command."""
    return b":1\r\n" * max(1, asked.count(b"*"))


def praise(_: bytes) -> bytes:
    """More than was asked for."""
    return b"+OK\r\n" * 50


def pongs(asked: bytes) -> bytes:
    """It lives, and nothing else: one for each command."""
    return b"+PONG\r\n" * max(1, asked.count(b"*"))


def depths(_: bytes) -> bytes:
    """An array in an array in an array."""
    return b"*1\r\n" * 3000


def noise(_: bytes) -> bytes:
    return _CHANCE.randbytes(200) + b"\r\n"


def greeting(_: bytes) -> bytes:
    """Of a protocol in which the server speaks of errors only."""
    return b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"


def flood(_: bytes) -> bytes:
    """The beginning of something that never ends."""
    return b"$536870912\r\n" + b"x" * 65536


def silence(_: bytes) -> bytes:
    return b""


ANSWERS: tuple[Answer, ...] = (numbers, praise, pongs, depths, noise, greeting, flood, silence)


@contextmanager
def imposter(path: Path, answer: Answer) -> Iterator[str]:
    """One that listens there on a socket of this machine; its address."""
    path.unlink(missing_ok=True)
    over = threading.Event()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(200)
        listener.settimeout(0.2)
        thread = threading.Thread(target=_listen, args=(listener, answer, over))
        thread.start()
        try:
            yield f"unix://{path}"
        finally:
            over.set()
            thread.join()
    path.unlink(missing_ok=True)


def _listen(listener: socket.socket, answer: Answer, over: threading.Event) -> None:
    while not over.is_set():
        with suppress(TimeoutError):
            client, _ = listener.accept()
            threading.Thread(target=_talk, args=(client, answer, over), daemon=True).start()


def _talk(client: socket.socket, answer: Answer, over: threading.Event) -> None:
    client.settimeout(0.2)
    with client:
        while not over.is_set():
            try:
                asked = client.recv(65536)
                if not asked:
                    return
                client.sendall(answer(asked))
            except TimeoutError:
                continue
            except OSError:
                return
