"""Ctrl-C waits for the end of an iteration, but not for long."""

import signal
import time

import pytest

from kibitz.core import interrupts


def test_an_interrupt_that_comes_twice_is_one(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(interrupts.time, "monotonic", lambda: now[0])
    with interrupts.deferred_interrupts() as interrupted:
        assert not interrupted()
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)  # to the group, too
        assert interrupted()
        now[0] += 2.0
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def iterate(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.01)


def test_an_interrupt_does_not_wait_for_an_iteration_that_takes_long(monkeypatch):
    monkeypatch.setattr(interrupts, "PATIENCE", 1.2)
    with interrupts.deferred_interrupts() as interrupted:
        signal.raise_signal(signal.SIGINT)
        assert interrupted()
        iterate(1.5)  # saving takes as long as it needs
    with interrupts.deferred_interrupts():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            iterate(60)


def test_nothing_is_interrupted_after_the_loop(monkeypatch):
    monkeypatch.setattr(interrupts, "PATIENCE", 1.2)
    with interrupts.deferred_interrupts():
        signal.raise_signal(signal.SIGINT)
    iterate(1.5)
