"""The boot loader U-Boot at its prompt, on a serial line; by default on a board emulated by QEMU.

Source: the U-Boot documentation (the command line; the commands setenv, printenv, setexpr, mw, md, env, reset). No page
says for every command what an empty line repeats; the model follows our observations.
"""

from otf.models.uboot.bench import bench
from otf.models.uboot.spec import uboot

__all__ = ["bench", "uboot"]
