"""Small modules in the style of PyModel, one for each feature; they are written into the folder of a test."""

from __future__ import annotations

from pathlib import Path

STACK = """
'''A stack whose pop returns what was on top'''
stack = list()
def push(x): stack.insert(0, x)
def push_enabled(x): return len(stack) < 2
def pop(): return stack.pop(0)
def pop_enabled(): return stack
state = ('stack',)
actions = (push, pop)
enablers = {push: (push_enabled,), pop: (pop_enabled,)}
domains = {push: {'x': [1, 2]}}
def accepting(): return not stack
def reset(): del stack[:]
"""
SWITCH = """
'''A switch'''
power = False
def On():
    global power
    power = True
def OnEnabled(): return not power
def Off():
    global power
    power = False
def OffEnabled(): return power
def Accepting(): return not power
state = ('power',)
actions = (On, Off)
enablers = {On: (OnEnabled,), Off: (OffEnabled,)}
cleanup = (Off,)
def Reset():
    global power
    power = False
"""
SPEED = """
def Faster(): pass
initial = 0
accepting = [0]
graph = ((0, (Faster, (), None), 1), (1, (Faster, (), None), 2), (2, (Faster, (), None), 0))
"""
ECHO = """
'''A line: what is sent comes back, later'''
said = ''
def say(text):
    global said
    said = text
def say_enabled(text): return not said
def hear(text):
    global said
    said = ''
def hear_enabled(text): return said and text == said
def accepting(): return not said
state = ('said',)
actions = (say, hear)
observables = (hear,)
enablers = {say: (say_enabled,), hear: (hear_enabled,)}
domains = {say: {'text': ['a', 'b']}, hear: {'text': ['a', 'b']}}
cleanup = (hear,)
"""


def write(folder: Path, **modules: str) -> Path:
    """Write modules into a folder and return it."""
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder
