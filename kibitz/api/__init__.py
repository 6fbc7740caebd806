"""The Python interface, exported from `kibitz` itself: imports every room but the guests."""
