"""What is loaded once is left out of garbage collection.

Python's collector looks for cycles by walking every object there is, and nothing else runs
meanwhile. With the models, the index and the imported modules of ``frontdesk serve`` loaded there
are 107,000 objects, of which the index is a few hundred, and one full collection took 74 to 112 ms
(``gc.collect`` ten times, on a two-core machine): audio is due every 20 ms. After
:func:`set_aside` it took less than 0.1 ms, as only the objects of the calls are left to walk.

What comes afterwards and stays are mostly the kept traits of sentences, up to some 100,000 objects
without a cycle among them; a full collection of those took 45 ms, in the midst of an answer. So
full ones are made ten times as rare; what a call leaves behind goes with the younger ones.
"""

from __future__ import annotations

import gc

_FULL_AFTER = 100  # collections of the middle generation; Python's own number is 10


def set_aside() -> None:
    """Collect what is garbage now and have later collections leave out all that is left.

    Call it when everything is loaded, and again when something loaded has been exchanged: what
    was set aside before is looked at again, so the rest of the old one goes. It takes as long as
    a full collection, in any thread: no call should be in progress.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _FULL_AFTER)
