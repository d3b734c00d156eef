"""Keys, CORS and the rate limit, put before the routes as the operator's settings want them."""

from typing import Final

from litestar.config.app import AppConfig
from litestar.config.cors import CORSConfig
from litestar.middleware import DefineMiddleware
from litestar.openapi.spec import Components, SecurityScheme
from litestar.plugins import InitPlugin

from app.settings import Settings
from app.web.access import KeyAuthentication
from app.web.origins import OriginGate
from app.web.rate_limit import RateLimit, RateLimitMiddleware
from app.web.sockets import SocketRefusal

EXPOSED_HEADERS: Final = (
    "X-Request-Id",
    "X-Audio-Sample-Rate",
    "X-Audio-Priming-Samples",
    "Retry-After",
)
"""What a page of another origin may read of a response, beside what every page may."""


class Gate(InitPlugin):
    """Puts before every route what decides who may pass."""

    def __init__(self, settings: Settings) -> None:
        """Be as strict as `settings` say."""
        self._settings: Final = settings

    def on_app_init(self, app_config: AppConfig) -> AppConfig:
        """Add the middleware, the outermost first; who has no key uses up no rate."""
        settings = self._settings
        app_config.middleware += [SocketRefusal(), OriginGate(settings.cors_origins)]
        if settings.keys:
            app_config.middleware.append(DefineMiddleware(KeyAuthentication, keys=settings.keys))
            _document_keys(app_config)
        if settings.speeches_per_minute:
            limit = RateLimit(settings.speeches_per_minute)
            app_config.middleware.append(RateLimitMiddleware(limit))
        if settings.cors_origins:
            app_config.cors_config = CORSConfig(
                allow_origins=list(settings.cors_origins),
                allow_methods=["GET", "POST"],
                expose_headers=list(EXPOSED_HEADERS),
                allow_credentials=False,
            )
        return app_config


def _document_keys(app_config: AppConfig) -> None:
    """Say in the OpenAPI document that a key is needed."""
    document = app_config.openapi_config
    if document is not None:
        bearer = SecurityScheme(type="http", scheme="bearer")
        document.components = Components(security_schemes={"bearer": bearer})
        document.security = [{"bearer": []}]
