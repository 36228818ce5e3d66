"""`otf completion`: the script with which a shell completes commands, options and benches."""

from __future__ import annotations

import os
from typing import Annotated, Any, Final

import typer

from otf.cli.output import guarded, say
from otf.errors import PASS, UsageError

VARIABLE: Final = "_OTF_COMPLETE"  # set by a shell that asks for completions
SHELLS: Final = {
    "bash": 'eval "$(otf completion bash)", for instance in ~/.bashrc',
    "zsh": 'eval "$(otf completion zsh)", for instance in ~/.zshrc after compinit',
    "fish": "otf completion fish | source, for instance in ~/.config/fish/config.fish",
}
EXAMPLES = "\b\nExamples:\n" + "".join(f"  {how}\n" for how in SHELLS.values())


@guarded
def completion(shell: Annotated[str, typer.Argument(metavar="SHELL", help=f"One of {', '.join(SHELLS)}.")]) -> int:
    """Print the script that completes commands, options and benches in a shell."""
    if shell not in SHELLS:
        message = f"{shell}: there is no script for this shell; there are scripts for {', '.join(SHELLS)}"
        raise UsageError(message)
    say(_typers().get_completion_script(prog_name="otf", complete_var=VARIABLE, shell=shell))
    return PASS


def prepare() -> None:
    """Register typer's completion formats, if a shell asks for completions."""
    if VARIABLE in os.environ:
        _typers().completion_init()


def _typers() -> Any:  # noqa: ANN401 -- the module hides its exports from type checkers
    from typer import completion as typers

    return typers


def benches(incomplete: str) -> list[str]:
    """Return the shipped benches that start with `incomplete`; the shell itself completes files."""
    from otf.cli.benches import shipped

    return [name for name in shipped() if name.startswith(incomplete)]
