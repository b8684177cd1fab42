#!/usr/bin/env bash
# Each new connection of redis-py opens the metadata of the package on the disk, unless the pool is that of `Redis()`.
#
# Version: redis 8.1.0.
# Behaviour:
# A connection tells the server the version of the library. redis-py looks it up by `importlib.metadata` and keeps nothing.
# `Redis(host=...)` does so once and gives the result to its pool. In a `ConnectionPool` or with `Redis.from_url` each
# connection reads METADATA again. `driver_info=None` turns it off.
# Output seen: opened for ten connections: Redis() 1, from_url 10, ConnectionPool 10, driver_info=None 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check redis==8.1.0
"$folder/venv/bin/python" - <<'PYTHON'
import socketserver, sys, threading
import redis

class Server(socketserver.StreamRequestHandler):
    """Answers each command with OK, in the second version of the protocol."""
    def handle(self):
        while line := self.rfile.readline():
            for _ in range(int(line[1:])):
                self.rfile.read(int(self.rfile.readline()[1:]) + 2)
            self.wfile.write(b"+OK\r\n")

server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Server)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
opened = []
sys.addaudithook(lambda event, args: opened.append(args[0]) if event == "open" and str(args[0]).endswith("METADATA") else None)

def count(make):
    before = len(opened)
    pool = make()
    for connection in [pool.get_connection() for _ in range(10)]:
        connection.disconnect()
    return len(opened) - before

port = server.server_address[1]
where = {"host": "127.0.0.1", "port": port, "protocol": 2}
seen = {
    "Redis()": count(lambda: redis.Redis(**where).connection_pool),
    "from_url": count(lambda: redis.Redis.from_url(f"redis://127.0.0.1:{port}?protocol=2").connection_pool),
    "ConnectionPool": count(lambda: redis.ConnectionPool(**where)),
    "driver_info=None": count(lambda: redis.ConnectionPool(**where, driver_info=None)),
}
print("opened for ten connections:", ", ".join(f"{how} {times}" for how, times in seen.items()))
assert list(seen.values()) == [1, 10, 10, 0]
PYTHON
