"""A model program as users of PyModel write them, for the examples of this package."""

on = False


def switch() -> None:
    """Switch the lamp."""
    global on  # noqa: PLW0603 -- this is how PyModel keeps the state
    on = not on


state = ("on",)
actions = (switch,)
