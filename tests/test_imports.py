"""Data flows one way, and imports with it."""

import ast
from pathlib import Path

import pytest

import app

FOLDER = Path(app.__file__).parent
ORDER = (
    ("settings", "errors", "formats", "schemas"),
    ("mlx_cpu",),
    ("speech", "audit", "listening"),
    ("worker", "schedule", "jobs", "turns", "admission"),
    ("web",),
    ("main",),
    ("server",),
    ("bench",),
    ("__main__", "cluster"),
)
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}


def name_room(module: str) -> str:
    return module.split(".")[1]


def read_imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    return {module for module in imported if module is not None and module.startswith("app.")}


MODULES = sorted(path for path in FOLDER.rglob("*.py") if path != FOLDER / "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_module_imports_from_its_left(path: Path) -> None:
    room = path.relative_to(FOLDER).with_suffix("").parts[0]
    for module in read_imports(path):
        assert RANK[name_room(module)] <= RANK[room], f"{path.name} imports {module}"


def test_every_module_has_its_place_in_the_order() -> None:
    rooms = {path.relative_to(FOLDER).with_suffix("").parts[0] for path in MODULES}
    assert rooms <= set(RANK)
