"""Foreign formats: how others write systems, models and measurements.

:mod:`.recognise` finds out which format a file has, :mod:`.reading` is what was understood of it,
and :mod:`.text` the lines it came in. The formats stand by whose they are (``nccl``, ``slurm``,
``pytorch``, ``infiniband``, ...), one file each, or a room where one is large (``facts``,
``chakra``, ``goal``, ``hf_config``); ``syntax`` has the grammars that they share.
"""
