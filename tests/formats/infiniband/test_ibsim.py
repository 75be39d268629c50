"""Net files for ibsim are written as they are read; OpenSM's tables are read as it writes them."""

from __future__ import annotations

import pytest

from artery.catalog import system
from artery.cluster.cables import cabling_of
from artery.errors import InputError
from artery.formats.infiniband.ibsim_net import as_ibsim, read_cabling
from artery.formats.infiniband.opensm_lfts import read_tables
from artery.formats.text import Text

# What OpenSM 3.3.23 wrote of a leaf with two hosts under two spines (ibsim 0.10).
DUMP = """\
Unicast lids [0-8] of switch Lid 2 guid 0x0000000000200000 ('leaf001'):
0x0001 001 # Channel Adapter portguid 0x0000000000100001: 'node0001'
0x0002 000 # Switch portguid 0x0000000000200000: 'leaf001'
0x0003 003 # Switch portguid 0x0000000000200001: 'leaf002'
0x0005 002 # Channel Adapter portguid 0x0000000000100003: 'node0002'
0x0007 003 # Channel Adapter portguid 0x0000000000100005: 'node0003'
0x0008 004 # Channel Adapter portguid 0x0000000000100007: 'node0004'
6 lids dumped
"""

# The same of dump_fts.
PRINTED = """\
Unicast lids [0x0-0x8] of switch DR path slid 0; dlid 0; 0,1 guid 0x0000000000200000 (leaf001):
  Lid  Out   Destination
       Port     Info
0x0007 003 : (Channel Adapter portguid 0x0000000000100005: 'node0003')
0x0008 004 : (Channel Adapter portguid 0x0000000000100007: 'node0004')
2 valid lids dumped
"""


@pytest.mark.parametrize("name", ["lab-fat-tree", "ethernet-10g:100"])
def test_a_net_file_is_read_back_with_its_cables(name: str) -> None:
    wanted = cabling_of(system(name))
    found = read_cabling(Text("net", as_ibsim(wanted)))
    pairs = [
        sorted(frozenset((cable.one.device, cable.other.device)) for cable in one.cables)
        for one in (wanted, found)
    ]
    assert len(pairs[0]) == len(pairs[1])
    assert set(map(frozenset, pairs[0])) == set(map(frozenset, pairs[1]))
    assert {one.name: one.kind for one in found.devices} == {
        one.name: one.kind for one in wanted.devices
    }


def test_a_host_of_several_cards_is_several_adapters() -> None:
    text = as_ibsim(cabling_of(system("dgx-h100:16")))
    assert text.count("Hca 1 ") == 16
    assert 'Hca 1 "node0002-nic7"\n[1] "leaf008"[2]\n' in text


@pytest.mark.parametrize("text", [DUMP, PRINTED], ids=["opensm", "dump_fts"])
def test_a_table_says_the_port_to_every_adapter(text: str) -> None:
    found = read_tables(text, "dump")
    assert found.ports["leaf001"]["node0003"] == 3
    assert found.ports["leaf001"]["node0004"] == 4
    assert "leaf002" not in found.adapters


def test_what_has_no_table_is_refused() -> None:
    with pytest.raises(InputError, match="no forwarding table"):
        read_tables("nothing of the kind\n", "dump")
