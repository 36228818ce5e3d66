"""The strategies by name, with a description of each, without importing the engine: lists and help must be fast."""

from __future__ import annotations

from typing import Final

SAYS: Final = {
    "alternating": "least tried input and least visited next state by turns, any input on each fifth path",
    "least-input": "the input tried least in the possible states",
    "least-next": "the input that leads to the least visited state, for some time",
    "least-state": "the input that leads to the least visited state, always",
    "least-action": "the kind of input that was used least",
    "nearest": "the nearest input that was not tried yet, on a planned way",
    "novelty": "what leads anywhere by the answers so far, where the model has too few states to know",
    "random": "any input with the same probability",
}
