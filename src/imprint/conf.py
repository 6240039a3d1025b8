"""Every option of Imprint, for nova.conf and for the documentation.

Knows no host: who needs an option registers them all on the host's own
``ConfigOpts`` with :func:`register_opts`, which may be repeated.
"""

from oslo_config import cfg

OVERRIDE_GROUP = cfg.OptGroup(
    "image_props_override",
    title="Image property overrides",
    help="What a user may ask for in server.image_props_override when a "
    "server is created.",
)

# Why each of these is not for tenants, unless the operator says so.
DENIED = [
    # integrity and provenance of the image
    "img_signature*",
    "img_owner_id",
    "img_version",
    "os_secure_boot",
    "hw_firmware_stateless",
    # no single string says it, or Nova reads it from the image alone
    "img_block_device_mapping",
    "img_bdm_v2",
    "img_mappings",
    "img_root_device_name",
    "traits_required",
    # isolation and licensing: which hosts take the server
    "trait:*",
    "img_hv_*",
    "hw_architecture",
    "hw_emulation_architecture",
    "hw_vm_mode",
    "img_hide_hypervisor_id",
    # keys and encrypted memory
    "hw_ephemeral_encryption*",
    "hw_mem_encryption*",
    # what the host does for the image, and its agents
    "img_cache_in_nova",
    "img_bittorrent",
    "img_compression_level",
    "img_linked_clone",
    "img_use_agent",
    "hw_redirected_usb_ports",
    "os_admin_user",
]

OVERRIDE_OPTS = [
    cfg.BoolOpt(
        "enabled",
        default=True,
        help="""
Accept image property overrides when a server is created. When this is false,
a request with overrides is refused with 403 and nothing is created; servers
that were created with overrides keep them.
""",
    ),
    cfg.ListOpt(
        "allowed",
        default=["*"],
        help="""
The image properties that may be overridden, as shell patterns that are
matched with case. A property must match one of them and none of ``denied``.
NUMA lists and traits are matched as they are spelled, for example
``hw_numa_cpus.*`` and ``trait:CUSTOM_*``.
""",
    ),
    cfg.ListOpt(
        "denied",
        default=DENIED,
        help="""
The image properties that are never overridden, as shell patterns that are
matched with case. This wins over ``allowed``. The default keeps from tenants
what protects the image (signatures, owner, secure boot), what chooses or
isolates hosts (traits, architecture, hypervisor), what handles keys, and what
makes a host work for an image. A value set here replaces the default whole.
""",
    ),
    cfg.IntOpt(
        "max_overrides",
        default=64,
        min=0,
        help="""
The greatest number of image properties that one request may override. A
request with more is refused with 400.
""",
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register every option of Imprint on ``conf``; repeatable."""
    conf.register_group(OVERRIDE_GROUP)
    conf.register_opts(OVERRIDE_OPTS, group=OVERRIDE_GROUP)


def list_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """List the options by group, for oslo.config's generator and docs."""
    return [(OVERRIDE_GROUP, OVERRIDE_OPTS)]
