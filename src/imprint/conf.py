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

IMPRINT_GROUP = cfg.OptGroup(
    "imprint",
    title="Imprint",
    help="What Imprint's parts read besides the options of their hosts.",
)

IMPRINT_OPTS = [
    cfg.MultiOpt(
        "osinfo_dirs",
        item_type=cfg.types.String(),
        default=[],
        sample_default="/etc/imprint/osinfo",
        help="""
A directory with further files of the libosinfo database, laid out as
/usr/share/osinfo is. It may be given more than once. What it says of an
operating system wins over the system's database (/usr/share/osinfo), the
administrator's (/etc/osinfo) and the user's, and a directory that comes later
wins over one before it.
""",
    ),
    cfg.StrOpt(
        "hardware_dir",
        default="/etc/imprint/hardware.d",
        help="""
A directory with rules of the administrator, files that end in .toml. They are
read in the order of their names after the rules that Imprint has, and a later
rule wins. A file with an error keeps nova-compute from starting. The directory
need not exist.
""",
    ),
]

# In Nova's own group, beside what it configures for its driver.
LIBVIRT_GROUP = cfg.OptGroup(
    "libvirt",
    title="Libvirt",
    help="What Imprint's driver reads besides the options of Nova's.",
)

LIBVIRT_OPTS = [
    cfg.StrOpt(
        "hardware_config",
        default="default",
        choices=[
            ("default", "ask the database if there is one"),
            ("fixed", "never ask it: Nova's fixed defaults"),
            (
                "libosinfo",
                "always ask it, or refuse to start, or the server",
            ),
        ],
        help="""
Where the libvirt driver gets the hardware of a server from whose image (or
override) names its operating system with os_name: disk bus, NIC, clock and
timers, as the libosinfo database and Imprint's rules know them. It is decided
once, when a server is built, and stays. Image properties and overrides always
win. A server without os_name gets Nova's fixed defaults.
""",
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register every option of Imprint on ``conf``; repeatable."""
    # by name: a group is shared by all that register it, with its values
    conf.register_opts(OVERRIDE_OPTS, group=OVERRIDE_GROUP.name)
    conf.register_opts(IMPRINT_OPTS, group=IMPRINT_GROUP.name)
    conf.register_opts(LIBVIRT_OPTS, group=LIBVIRT_GROUP.name)


def list_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """List the options by group, for oslo.config's generator and docs."""
    return [
        (IMPRINT_GROUP, IMPRINT_OPTS),
        (OVERRIDE_GROUP, OVERRIDE_OPTS),
        (LIBVIRT_GROUP, LIBVIRT_OPTS),
    ]
