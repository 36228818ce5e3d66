"""The boot loader U-Boot at its prompt, on a serial line; by default on a board emulated by QEMU.

`otf run uboot --set firmware=u-boot.bin` tests an image of your own. Source: the U-Boot documentation of the command
line and of the commands setenv, printenv, setexpr, mw, md, env and reset. An empty line repeats the last command, but
the documentation does not say so for every command. Where the documentation is silent, the model follows what U-Boot
did in our tests.
"""

from otf.models.uboot.bench import bench
from otf.models.uboot.spec import uboot

__all__ = ["bench", "uboot"]
