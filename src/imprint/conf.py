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
    cfg.StrOpt(
        "on_rebuild",
        default="keep",
        choices=[
            ("keep", "the overrides stay, whichever image the server gets"),
            ("same-image", "they stay if the image does, else they go"),
            ("drop", "they go with every rebuild"),
        ],
        help="""
What becomes of a server's overrides when it is rebuilt by a request that does
not say. A rebuild with image_props_override of its own replaces them.
""",
    ),
    cfg.BoolOpt(
        "accept_scheduler_hints",
        default=True,
        help="""
Take overrides from scheduler hints too, for clients that cannot send
image_props_override: the hint image_props_override (an object, or the same as
a JSON string) or one hint imprint:NAME for each property. When this is false,
a request with such hints is refused with 403 and nothing is created.
""",
    ),
    cfg.StrOpt(
        "property_protection_file",
        help="""
A property protection file of Glance. Who may not create a property there
cannot add it with an override, who may not update it cannot override what the
image says. A property that no section of the file matches is refused. The
file is read again when it changes; when it cannot be read, every override is
refused. Unset: only ``allowed`` and ``denied`` count.
""",
    ),
    cfg.StrOpt(
        "property_protection_rule_format",
        default="roles",
        choices=[
            ("roles", "the file lists roles"),
            ("policies", "the file names rules of Nova's policy file"),
        ],
        help="""
What the values in ``property_protection_file`` are, as in Glance.
""",
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register every option of Imprint on ``conf``; repeatable."""
    # by name: a group is shared by all that register it, with its values
    conf.register_opts(OVERRIDE_OPTS, group=OVERRIDE_GROUP.name)


def list_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """List the options by group, for oslo.config's generator and docs."""
    return [(OVERRIDE_GROUP, OVERRIDE_OPTS)]
