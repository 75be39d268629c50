"""Time and memory of one training step, as array functions that fill named terms.

Start at ``evaluate``: it prices many plans at once. ``micro`` walks one micro-batch through a
layer (``layer``: computation, ``traffic``: communication inside a layer), ``stages`` deals
layers to pipeline stages, ``schedule`` puts micro-batches in order, ``data_parallel`` adds
gradients and sharded weights, ``optimizer`` and ``memory`` the rest. ``ledger`` is how a term
remembers its formula; ``legality`` says which plans make sense.
"""

from artery.step.evaluate import PARTS, Evaluation, evaluate
from artery.step.ledger import Ledger
from artery.step.plans import Plans

__all__ = ["PARTS", "Evaluation", "Ledger", "Plans", "evaluate"]
