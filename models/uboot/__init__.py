"""The boot loader U-Boot at its prompt, on a serial line: a board that QEMU plays, if no other is named.

Source: the U-Boot documentation (the command line; the commands setenv, printenv, setexpr, mw, md, env, reset). What an
empty line repeats is in no page for every command; here that is as it was seen.
"""

from otf.models.uboot.bench import bench
from otf.models.uboot.spec import uboot

__all__ = ["bench", "uboot"]
