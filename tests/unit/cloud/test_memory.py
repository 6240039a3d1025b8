from imprint.cloud import memory

ROLLUP = """\
55d0c0000000-7ffc00000000 ---p 00000000 00:00 0    [rollup]
Rss:               10240 kB
Pss:                2048 kB
Pss_Dirty:          1024 kB
"""


def process(proc, pid, comm, rollup=ROLLUP):
    (proc / pid).mkdir()
    (proc / pid / "comm").write_text(f"{comm}\n")
    (proc / pid / "smaps_rollup").write_text(rollup)


def test_shared_pages_count_once_and_guests_not(tmp_path):
    process(tmp_path, "10", "mariadbd")
    process(tmp_path, "11", "python")
    process(tmp_path, "12", "qemu-system-x86")
    process(tmp_path, "13", "kthreadd", rollup="")
    (tmp_path / "14").mkdir()
    assert memory.measure(tmp_path) == 4
