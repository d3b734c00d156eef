"""MLX is imported in one place, since a BLAS must be loaded before it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import app

FOLDER = Path(app.__file__).parent
MODULES = sorted(FOLDER.rglob("*.py"))
GATE = FOLDER / "mlx_cpu" / "__init__.py"


def list_imports(source: str) -> Iterator[tuple[str, int]]:
    """Yield every module that `source` imports, and on which line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def breaks_rule(source: str) -> bool:
    """Say whether `source` imports MLX's core itself, or what needs it before it is set up."""
    found = list(list_imports(source))
    set_up = [line for name, line in found if name.startswith("app.mlx_cpu")]
    needs = [line for name, line in found if name.split(".")[0] in {"mlx", "mlx_audio", "mlx_lm"}]
    core = any(name == "mlx.core" or name.startswith("mlx.core.") for name, _ in found)
    return core or bool(needs and not set_up)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_only_the_gate_imports_mlx(path: Path) -> None:
    assert path == GATE or not breaks_rule(path.read_text())


@pytest.mark.parametrize(
    "source",
    [
        "import mlx.core as mx",
        "from mlx import core",
        "from mlx.core import array",
        "def f():\n    import mlx.core",
        "import mlx_audio",
        "from app.mlx_cpu import mx\nimport mlx.core",
    ],
)
def test_the_rule_sees_each_way_around_it(source: str) -> None:
    assert breaks_rule(source)


def test_the_gate_loads_the_blas_before_mlx() -> None:
    lines = GATE.read_text().splitlines()
    assert lines.index("preload()") < lines.index(
        next(line for line in lines if line.startswith("import mlx.core"))
    )
