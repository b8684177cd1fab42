"""Services and the application of a service, built once before its processes are forked from the supervisor.

They have no connection and no thread: each process connects at its first use. Until then their memory is shared.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from api.app import AnnalsApp, create_app
from deploy.config.settings import Settings
from deploy.runtime.wiring import ServiceContainer, create_services


@dataclass(frozen=True)
class SharedServices:
    """Services and the application over them, for forked processes."""

    services: ServiceContainer
    app: AnnalsApp
    key: bytes = field(repr=False)
    """The master key of these services."""

    @property
    def settings(self) -> Settings:
        """The settings of the processes."""
        return self.services.settings

    @contextmanager
    def use_services(self) -> Iterator[ServiceContainer]:
        """Yield the services of this process, and close them. Raises WrongKey."""
        services = self._find_services()
        try:
            yield services
        finally:
            services.close()

    def find_app(self) -> AnnalsApp:
        """Return the application of this process."""
        services = self._find_services()
        return self.app if services is self.services else create_app(services.build_api_services())

    def _find_services(self) -> ServiceContainer:
        """Return the shared services, or new ones if the master key has changed since. Raises WrongKey."""
        if self.settings.load_key() == self.key:
            return self.services
        services = create_services(self.settings, self.services.registry)
        services.check_key()
        return services


def build_shared_services(services: ServiceContainer) -> SharedServices:
    """Return the services with the application over them."""
    services.views.prepare_forks()
    return SharedServices(services, create_app(services.build_api_services()), services.settings.load_key())
