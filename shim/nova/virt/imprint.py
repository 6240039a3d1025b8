"""Lets ``compute_driver = imprint.LibvirtDriver`` name Imprint's driver.

Nova looks for compute drivers in its own package ``nova.virt`` only
(``nova.virt.driver.load_compute_driver``).
"""

from imprint.nova.driver import LibvirtDriver

__all__ = ["LibvirtDriver"]
