"""Arrays as C sees them."""

from __future__ import annotations

from ctypes import c_void_p
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


T = TypeVar("T", bound=np.generic)


def contiguous(values: NDArray[Any], dtype: type[T]) -> NDArray[T]:
    """Return ``values`` as a contiguous array of ``dtype``, copied only where it is not one."""
    return np.ascontiguousarray(values, dtype=dtype)


def address(values: NDArray[Any] | None) -> c_void_p:
    """Return where the values lie; NULL for no array. The caller keeps the array alive."""
    return c_void_p(None if values is None else values.ctypes.data)
