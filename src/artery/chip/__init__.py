"""One chip: how long its kernels take.

``roofline`` holds the limits that nothing beats; ``gemm`` times matrix products tile by tile;
``attention`` times fused attention kernels. All are functions of arrays.
"""
