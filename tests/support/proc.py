"""What a process uses, read from outside through /proc (Linux only)."""

import os
import re
from pathlib import Path


def cpu_seconds(pid: int) -> float:
    """Returns the CPU seconds of all its threads so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def megabytes(pid: int, which: str = "VmRSS") -> float:
    """Returns its resident memory; as `VmHWM`, the most so far."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(rf"{which}:\s+(\d+)", status)[0]) / 1024
