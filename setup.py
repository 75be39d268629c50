"""The one thing that pyproject.toml cannot say: the C loops are compiled, if there is a compiler.

Without one the installation goes on and the Python twins are used (``artery doctor`` says so).
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

FOLDER = Path("src") / "artery" / "native"
SOURCES = sorted(FOLDER.glob("*.c"))
HEADERS = sorted(FOLDER.glob("*.h"))


def digest() -> str:
    """Return what tells one state of the sources from another (see ``artery.native``)."""
    text = b"".join(path.read_bytes() for path in [*SOURCES, *HEADERS])
    return hashlib.sha256(text).hexdigest()


class PlainLibrary(build_ext):
    """A shared library loaded by ctypes, which needs neither Python.h nor an init function."""

    def get_export_symbols(self, ext: Extension) -> list[str]:
        """Return the symbols that only some linkers want to be told."""
        return list(ext.export_symbols)


setup(
    ext_modules=[
        Extension(
            "artery.native._core",
            sources=[str(path) for path in SOURCES],
            depends=[str(path) for path in HEADERS],
            define_macros=[("ARTERY_DIGEST", digest())],
            extra_compile_args=["-std=c11", "-O2", "-ffp-contract=off"],
            optional=True,
        )
    ],
    cmdclass={"build_ext": PlainLibrary},
)
