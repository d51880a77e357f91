"""Keys of ids, and the set that finds repeats among them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.retrieve.keys import KeySet, key_of, keys_of


def test_a_key_is_the_same_on_every_machine() -> None:
    assert key_of("w0") == 10595345205653505870


@pytest.mark.parametrize("identifier", ["", " ", "a b\nc", "日本語", "🍵", "x" * 10_000, "half \udcff"])
def test_any_id_has_a_key_of_64_bits(identifier: str) -> None:
    assert 0 <= key_of(identifier) < 1 << 64
    assert keys_of([identifier, "w0"]).tolist() == [key_of(identifier), key_of("w0")]


def test_no_ids_no_keys() -> None:
    assert keys_of([]).dtype == np.uint64
    assert KeySet().add(keys_of([])) is None


@given(st.lists(st.lists(st.integers(0, 30), max_size=8), max_size=12))
def test_the_first_repeat_is_found_and_nothing_added_with_it(batches: list[list[int]]) -> None:
    keys, model = KeySet(), set[int]()
    for batch in batches:
        repeated = [place for place, key in enumerate(batch) if key in model or key in batch[:place]]
        assert keys.add(np.array(batch, dtype=np.uint64)) == (repeated[0] if repeated else None)
        if not repeated:
            model.update(batch)


def test_keys_of_before_count() -> None:
    keys = KeySet(keys_of(["b", "a"]))
    assert keys.add(keys_of(["c", "a"])) == 1
    assert keys.add(keys_of(["c"])) is None


def test_many_small_batches_stay_few_runs() -> None:
    keys = KeySet()
    for number in range(1000):
        keys.add(np.arange(number * 7, number * 7 + 7, dtype=np.uint64))
    assert len(keys._runs) <= 14
