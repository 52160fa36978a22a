"""Numbers of any kind as FP16, which the device takes."""

import numpy as np

# The largest number of FP16.
_MOST = 65504


def half(array, name="array"):
    """Converts an array to FP16 without gaps; one that is so already is returned as it is, without a copy.

    Raises ValueError, with the place, for a number beyond FP16: it would become infinity. Infinities and NaN that the array
    has stay as they are.
    """
    try:
        wide = np.asarray(array)
        if wide.dtype.kind == "c" or wide.dtype.kind in "OSUMm":
            raise TypeError(f"type {wide.dtype}")
        with np.errstate(over="ignore", invalid="ignore"):
            made = np.ascontiguousarray(wide, np.float16)
    except (TypeError, ValueError, RuntimeError) as why:
        raise ValueError(f"{name} are no array of real numbers: {why}; convert them, a tensor of PyTorch with `.float().numpy()`") from why
    if wide.dtype == np.float16:
        # The library refuses numbers at odd addresses, as a file mapped behind a header of odd length has them.
        return made if made.flags.aligned else made.copy()
    beyond = np.isinf(made)
    if beyond.any():
        # Numbers of another package's type, BF16 for example, compare as float64.
        numbers = np.asarray(wide, np.float64).reshape(made.shape)
        beyond &= np.isfinite(numbers)
        if beyond.any():
            place = tuple(int(at) for at in np.argwhere(beyond)[0])
            more = int(beyond.sum()) - 1
            also = f", and {more} more" if more else ""
            raise ValueError(
                f"{name}{list(place)} is {float(numbers[place]):g}{also}: FP16 ends at {_MOST}; scale them first, keys down and queries up for example"
            )
    return made
