from imprint.cloud import facts

CONSOLE = """\
[    0.000000] Command line: console=ttyS0 guest: no: fact
\x1b[2J[01;01Hsome firmware
guest: up: IMPRINT
guest: cmdline: console=ttyS0 a="b c"  d: e=f\r
guest: pci: 0000:00:00.0 8086:1237 class=0x060000 driver=none
guest: pci: 0000:00:04.0 1af4:1000 class=0x020000 driver=virtio-pci
guest: vendor:
guest: ready: 7.31
"""


def test_a_value_is_kept_byte_for_byte():
    parsed = facts.parse(CONSOLE)
    assert parsed.get("cmdline") == 'console=ttyS0 a="b c"  d: e=f'


def test_a_fact_may_come_several_times():
    parsed = facts.parse(CONSOLE)
    assert len(parsed.list("pci")) == 2
    assert parsed.pci_ids == {"8086:1237", "1af4:1000"}


def test_a_fact_that_is_not_there_is_empty():
    parsed = facts.parse(CONSOLE)
    assert parsed.get("no") == ""
    assert parsed.list("no") == []


def test_only_the_last_start_counts():
    again = CONSOLE + "guest: up: IMPRINT\nguest: cmdline: other\n"
    assert facts.parse(again).get("cmdline") == "other"
    assert facts.parse(again).list("pci") == []


def test_an_empty_console_has_no_facts():
    assert facts.parse("").lines == []


def test_ready_is_the_guests_own_line():
    assert facts.READY.search(CONSOLE)
    assert not facts.READY.search("Command line: guest: ready: 1\n")


def test_a_guest_that_reports_again_is_the_same_boot():
    again = CONSOLE + "guest: up: IMPRINT\nguest: boot: 1-2\nguest: ready: 9\n"
    assert facts.parse(again).get("boot") == "1-2"
    assert facts.parse(again).list("ready") == ["9"]


MACHINE = """\
guest: pci: 0000:00:01.1 8086:7010 class=0x010180 driver=ata_piix
guest: pci: 0000:00:03.0 1af4:1000 class=0x020000 driver=virtio-pci
guest: pci: 0000:00:04.0 10ec:8139 class=0x020000 driver=8139cp
guest: pci: 0000:02:00.0 1b36:000e class=0x060400 driver=none
guest: pci: 0000:03:01.0 1af4:1042 class=0x010000 driver=virtio-pci
guest: disk: sda bytes=1 path=/sys/devices/pci0000:00/0000:00:01.1/ata1/sda
guest: disk: vda bytes=1\
 path=/sys/devices/pci0000:00/0000:02:00.0/0000:03:01.0/virtio1/block/vda
guest: disk: fda bytes=1 path=/sys/devices/platform/floppy.0/block/fda
"""


def test_a_nic_is_told_by_its_pci_device():
    nics = facts.parse(MACHINE).nics
    assert nics == ["1af4:1000 virtio-pci", "10ec:8139 8139cp"]


def test_a_disk_hangs_on_the_last_pci_device_of_its_path():
    disks = facts.parse(MACHINE).disks
    assert disks == ["sda ata_piix", "vda virtio-pci", "fda "]
