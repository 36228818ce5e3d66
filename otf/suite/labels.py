"""Which outputs can be told apart: two that may look the same get the same label."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any, Final, NamedTuple

from otf.core.compile import choices
from otf.explore import Graph
from otf.explore.naming import observed, output_name
from otf.spec import AnyOrder, On
from otf.spec.outputs import vague

COARSE: Final = "outputs that the model gives as a class or a test are not used to tell states apart"


class Labels(NamedTuple):
    """Labels of a graph's outputs, by number: two outputs have different labels if they can be told apart.

    `silent` is the label of no output. `exact` has labels that differ for any two different outputs; 0 is no output.
    """

    numbers: list[int]
    silent: int
    exact: list[int]
    notes: tuple[str, ...] = ()


def labels(graph: Graph) -> Labels:
    """Return the labels of a graph's outputs."""
    flat = [observed(each) for each in graph.outputs]
    known: dict[Any, int] = {output_name(()): 0}
    exact = [known.setdefault(output_name(each), len(known)) for each in flat]
    merged = _merged([(), *flat], [0, *exact])
    unclear = any(_is_vague(item) for each in flat for item in each)
    return Labels(merged[1:], merged[0], exact, (COARSE,) if unclear else ())


def lookalikes(outputs: list[tuple[Any, ...]]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of outputs, by index, that may look the same."""
    return ((one, other) for one, other in _suspects(outputs) if alike(outputs[one], outputs[other]))


def alike(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Return whether two outputs may look the same. In doubt they may: order is ignored.

    >>> alike(("a", "b"), (AnyOrder("b", "a"),)), alike(("a",), (str,)), alike(("a",), (int,)), alike(("a",), ())
    (True, True, False, False)
    """
    # only the bench knows which values share a port, and so have an order
    here, there = list(_items(one)), list(_items(other))
    return len(here) == len(there) and _each_in(here, there) and _each_in(there, here)


def _each_in(items: list[Any], others: list[Any]) -> bool:
    return all(any(map(_may_look, [item] * len(others), others)) for item in items)


def _items(outputs: tuple[Any, ...]) -> Iterator[Any]:
    for item in outputs:
        if isinstance(item, AnyOrder):
            yield from _items(item.items)
        elif isinstance(item, On):
            yield from (each if isinstance(each, On) else On(item.port, each) for each in _items((item.item,)))
        else:
            yield item


def _may_look(one: Any, other: Any) -> bool:  # noqa: ANN401 -- items of outputs
    ports = {item.port for item in (one, other) if isinstance(item, On)}
    return len(ports) <= 1 and _may_match(_bare(one), _bare(other))


def _bare(item: Any) -> Any:  # noqa: ANN401 -- an item of outputs
    return item.item if isinstance(item, On) else item


def _merged(flat: list[tuple[Any, ...]], numbers: list[int]) -> list[int]:
    """Return the numbers, made equal for outputs that may look the same; this is transitive."""
    leader = list(range(max(numbers) + 1))

    def head(number: int) -> int:
        while leader[number] != number:
            number = leader[number]
        return number

    for one, other in lookalikes(flat):
        leader[head(numbers[one])] = head(numbers[other])
    return [head(number) for number in numbers]


def _suspects(flat: list[tuple[Any, ...]]) -> Iterator[tuple[int, int]]:
    """Yield the pairs to compare: those with the same values, and those of which one is vague."""
    buckets = defaultdict[Any, list[int]](list)
    unclear: list[int] = []
    for at, outputs in enumerate(flat):
        items = [_bare(item) for item in _items(outputs)]
        if any(map(_is_vague, items)):
            unclear.append(at)
        buckets[frozenset(Counter(map(output_name, items)).items())].append(at)
    for bucket in buckets.values():
        yield from combinations(bucket, 2)
    yield from product(unclear, range(len(flat)))


def _may_match(one: Any, other: Any) -> bool:  # noqa: ANN401 -- items of outputs
    if not (_is_vague(one) or _is_vague(other)):
        return output_name(one) == output_name(other)
    for this, that in ((one, other), (other, one)):
        # a class matches only its instances; of a test nothing is known
        if isinstance(this, type) and not _is_vague(that):
            return isinstance(that, this)
    return True


def _is_vague(item: Any) -> bool:  # noqa: ANN401 -- an item of outputs
    if isinstance(item, AnyOrder):
        return any(map(_is_vague, item.items))
    if isinstance(item, On):
        return _is_vague(item.item)
    return any(vague(each) for each in choices(item))
