"""The command `annals serve --small`: a whole service in one process beside nginx."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from deploy.cli.arguments import DONE, load_settings_of
from deploy.cli.process_loops import run_maintenance_until
from deploy.cli.serve import print_data_folder, run_migrations, running_supervisor
from domain.ruleset_registry import RulesetRegistry
from workers import liveness


def serve_small(args: argparse.Namespace, registry: RulesetRegistry) -> int:
    """Run the whole service in this process until a signal comes."""
    from deploy.runtime import nginx  # noqa: PLC0415
    from deploy.runtime.supervisor import Program, hold_lock, stop_on_signals  # noqa: PLC0415

    with stop_on_signals() as stop_request, ExitStack() as cleanup:
        # 1. Read the settings, lock the data folder and the port. A configured Redis is not used.
        settings = replace(load_settings_of(args), redis_url="")
        settings.make_data_folder()
        print_data_folder(settings)
        cleanup.enter_context(hold_lock(settings.data / "lock"))
        cleanup.enter_context(hold_lock(settings.data / "pump.lock"))
        settings = cleanup.enter_context(nginx.reserve_port(settings))

        # 2. Start nginx, while the process is small and has one thread.
        liveness_folder = cleanup.enter_context(liveness.supervised_folder(settings.data, "small"))
        supervisor = cleanup.enter_context(running_supervisor(settings, liveness_folder, stop_request))
        from deploy.runtime.one_process import LIMITS, OneProcess, join_sockets  # noqa: PLC0415

        run = partial(nginx.exec_nginx, settings, LIMITS)
        supervisor.start(Program("nginx", nginx.nginx_command(settings), run))

        # 3. Create or migrate the databases, and build all services.
        run_migrations(settings)
        from deploy.runtime.server import prepare_whole_app, serve_all  # noqa: PLC0415
        from deploy.runtime.wiring import create_lone_services  # noqa: PLC0415
        from workers.context import set_context  # noqa: PLC0415
        from workers.local_queues import LocalQueues  # noqa: PLC0415

        queues = LocalQueues()
        services = create_lone_services(settings, queues, registry)
        services.check_key()
        process = OneProcess(services, queues, supervisor, liveness_folder)
        set_context(process.context)

        # 4. Start the threads, and serve. The server ends the process.
        def leave() -> None:
            process.stop()
            cleanup.close()

        prepare_whole_app(services, leave)  # first: the threads would slow it down
        join_sockets(settings)
        process.start(partial(run_maintenance_until, services, process.context, process.stopped))
        serve_all(settings)
    return DONE
