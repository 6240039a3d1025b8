"""Changes the overrides of a server that is off.

What a server has lies in four places: Nova's copy of the image properties,
our record beside it, the request spec and the bus of its disks.  They change
together or not at all.  The next start builds the guest from them.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from nova import exception, objects, utils
from nova.compute import api as compute
from nova.compute import vm_states
from nova.objects.image_meta import ImageMeta, ImageMetaProps
from oslo_log import log as logging

from imprint import exceptions
from imprint.nova import (
    compute_api,
    declared,
    disk_bus,
    errors,
    hardware_record,
    image_properties,
    override_actions,
    scheduling,
    system_metadata,
)
from imprint.properties import effective, merge

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

LOG = logging.getLogger(__name__)

#: The task state of a server while its overrides change, which keeps every
#: other action off it.
CHANGING = "changing_image_props_override"

_MACHINE_TYPE = "hw_machine_type"
# Nova's defaults that it would not have chosen with another machine type: a
# q35 has no IDE, and a CD-ROM drive registered on it keeps a guest from
# starting.
_GO_WITH_MACHINE_TYPE = frozenset({"hw_cdrom_bus"})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """What a server has now and what it is to have."""

    #: overrides
    before: Mapping[str, str]
    after: Mapping[str, str]
    #: effective properties, as in the server's system metadata
    had: Mapping[str, Any]
    has: Mapping[str, Any]
    #: of these, what image and overrides say
    declared_before: Mapping[str, Any]
    declared: Mapping[str, Any]
    #: what the image said where the new overrides stand
    replaced: Mapping[str, Any]
    #: what Nova registered and the new overrides stand for, as far as it is
    #: to come back without them
    registered: Mapping[str, str]
    #: the record of its hardware to come, as in its system metadata
    hardware: Mapping[str, str]

    @property
    def image(self) -> dict[str, Any]:
        """The properties to come, in the form in which Glance answers."""
        kept = {
            utils.SM_IMAGE_PROP_PREFIX + name: value
            for name, value in self.has.items()
        }
        image: dict[str, Any] = utils.get_image_from_system_metadata(kept)
        return {**image, "status": "active"}


class API(compute_api.API):
    """Imprint's compute API, which changes a server's overrides too."""

    @compute.check_instance_lock
    @compute.check_instance_state(
        vm_state=[
            vm_states.STOPPED,
            vm_states.SHELVED,
            vm_states.SHELVED_OFFLOADED,
        ]
    )
    def change_overrides(
        self,
        context: Any,
        instance: objects.Instance,
        overrides: Mapping[str, str],
    ) -> None:
        """Replace the overrides of ``instance`` by checked ones.

        :raises ConflictingOverrideError: a property that the scheduler
            decided by
        :raises InstanceUpdateConflict: the server is busy with something else
        :raises Exception: what Nova refuses create with
        """
        request_spec = declared.find_request_spec(context, instance)
        plan = self._plan(context, instance, request_spec, overrides)
        if plan.before == plan.after:
            return
        bdms = objects.BlockDeviceMappingList.get_by_instance_uuid(
            context, instance.uuid
        )
        self._check(context, instance, plan, bdms)
        _claim(instance, plan)
        _Change(
            context=context,
            instance=instance,
            request_spec=request_spec,
            bdms=bdms,
            plan=plan,
            columns=self._find_columns(plan),
        ).apply()
        LOG.info(
            "Changed overrides of the image properties %s",
            ", ".join(sorted(dict(plan.before.items() ^ plan.after.items()))),
            instance=instance,
            context=context,
        )

    def _plan(
        self,
        context: Any,
        instance: objects.Instance,
        request_spec: objects.RequestSpec | None,
        overrides: Mapping[str, str],
    ) -> Plan:
        kept = instance.system_metadata
        computed = declared.find_computed(kept, request_spec)
        had = system_metadata.read_image_properties(kept)
        before = system_metadata.read_record(kept)
        declared_before = {
            name: value for name, value in had.items() if name not in computed
        }
        said = merge.restore(
            declared_before,
            before,
            system_metadata.read_replaced(kept),
            image_properties.vocabulary(),
        )
        scoped = self.with_overrides(overrides)
        image = {"properties": dict(said)}
        scoped._check_auto_disk_config(image=image)  # noqa: SLF001 - our own
        self._check_protections(context, said, before, overrides)
        registered = system_metadata.read_registered(kept)
        if _MACHINE_TYPE in computed:
            registered[_MACHINE_TYPE] = had[_MACHINE_TYPE]
        after = image["properties"]
        if hardware_record.needs_decision(kept, declared_before, after):
            # the host of the next start computes all of it again
            computed = frozenset()
        has = _add_computed(had, computed, after, registered)
        has, hardware = hardware_record.follow_change(
            kept, has, declared_before, after
        )
        return Plan(
            before=before,
            after=dict(overrides),
            had=had,
            has=has,
            hardware=hardware,
            declared_before=declared_before,
            declared=after,
            replaced=scoped.replaced,
            registered={
                name: value
                for name, value in registered.items()
                if name in overrides
            },
        )

    def _check_protections(
        self,
        context: Any,
        said: Mapping[str, Any],
        before: Mapping[str, str],
        after: Mapping[str, str],
    ) -> None:
        """Ask Glance's property protections for the overrides that are new."""
        new = dict(after.items() - before.items())
        vocabulary = image_properties.vocabulary()
        with errors.translated():
            self.protections.check(
                context,
                said,
                merge.merge(said, new, vocabulary),
                merge.find_replaced(said, new, vocabulary),
            )

    def _check(
        self,
        context: Any,
        instance: objects.Instance,
        plan: Plan,
        bdms: objects.BlockDeviceMappingList,
    ) -> None:
        """Ask Nova what it asks when a server is created."""
        self._checks_for_create_and_rebuild(
            context,
            instance.image_ref,
            plan.image,
            instance.flavor,
            {},
            [],
            bdms.root_bdm(),
            objects.service.get_minimum_version_all_cells(
                context, ["nova-compute"]
            ),
        )
        vocabulary = image_properties.vocabulary()
        decisive = scheduling.find_decisive(
            context,
            instance.flavor,
            effective.read_current(plan.declared_before, vocabulary),
            effective.read_current(plan.declared, vocabulary),
        )
        if decisive:
            raise exceptions.ConflictingOverrideError(
                f"{', '.join(decisive)} cannot change now: the scheduler "
                f"chose the server's host by it, so a resize or a rebuild is "
                f"needed"
            )

    def _find_columns(self, plan: Plan) -> dict[str, Any]:
        """Find the columns of an instance that follow its properties."""
        before, after = (
            self._inherit_properties_from_image(
                {"properties": dict(properties)}, None
            )
            for properties in (plan.had, plan.has)
        )
        # one that did not change may have been set by the user
        return {
            name: value
            for name, value in after.items()
            if value != before[name]
        }


def _add_computed(
    had: Mapping[str, Any],
    computed: Collection[str],
    declared_after: Mapping[str, Any],
    registered: Mapping[str, str],
) -> dict[str, Any]:
    """Return the effective properties: what was declared over Nova's own.

    What Nova registered stays.  Where neither image nor override says
    anything any more, Nova chooses and registers with the next start, with
    one exception: the machine type.  A guest installed on one may not find
    its disks on another, and the default of the host may have changed since.
    So the server goes back to the machine type that was registered, or keeps
    the one that it has, registered from now on.
    """
    has = {name: had[name] for name in computed} | dict(declared_after)
    if _MACHINE_TYPE in had and _MACHINE_TYPE not in has:
        has[_MACHINE_TYPE] = registered.get(_MACHINE_TYPE, had[_MACHINE_TYPE])
    if has.get(_MACHINE_TYPE) != had.get(_MACHINE_TYPE):
        for name in _GO_WITH_MACHINE_TYPE & set(computed):
            if name not in declared_after:
                del has[name]
    return has


def _claim(instance: objects.Instance, plan: Plan) -> None:
    """Keep other actions off the server, if it is still as it was planned.

    The save fails if the server has another state by now.  It also reads the
    system metadata: another change may have come and gone in between.
    """
    instance.task_state = CHANGING
    instance.save(
        expected_vm_state=[instance.vm_state], expected_task_state=[None]
    )
    kept = instance.system_metadata
    if (
        system_metadata.read_record(kept) != plan.before
        or system_metadata.read_image_properties(kept) != plan.had
    ):
        _release(instance)
        raise exception.InstanceUpdateConflict(
            instance_uuid=instance.uuid,
            expected={"overrides": sorted(plan.before)},
            actual={"overrides": sorted(system_metadata.read_record(kept))},
        )


def _release(instance: objects.Instance) -> None:
    instance.task_state = None
    instance.save(expected_task_state=[CHANGING])


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Change:
    """One change of a server that is claimed, undone whole if it fails."""

    context: Any
    instance: objects.Instance
    request_spec: objects.RequestSpec | None
    bdms: objects.BlockDeviceMappingList
    plan: Plan
    #: of the instance, as far as they change
    columns: Mapping[str, Any]
    #: what puts back each step that was begun
    undo: list[Callable[[], None]] = dataclasses.field(default_factory=list)

    def apply(self) -> None:
        """Write everything; the server's own row comes last and frees it."""
        context, instance, plan = self.context, self.instance, self.plan
        try:
            override_actions.start(context, instance, plan.before, plan.after)
            self._save_request_spec()
            self._realign_disks()
            self._save_instance()
        except Exception as exc:
            self._roll_back(type(exc).__name__)
            raise
        override_actions.finish(context, instance)

    def _save_request_spec(self) -> None:
        request_spec = self.request_spec
        if request_spec is None:
            return
        before = request_spec.image

        def save(image: ImageMeta | None) -> None:
            request_spec.image = image
            request_spec.save()

        after = before.obj_clone() if before is not None else ImageMeta()
        # from_dict takes the NUMA names out of its argument
        after.properties = ImageMetaProps.from_dict(dict(self.plan.declared))
        self.undo.append(lambda: save(before))
        save(after)

    def _realign_disks(self) -> None:
        buses = [(bdm, bdm.disk_bus) for bdm in self.bdms]

        def restore() -> None:
            for bdm, bus in buses:
                bdm.disk_bus = bus
                bdm.save()

        self.undo.append(restore)
        disk_bus.realign(
            self.instance, self.bdms, self.plan.had, self.plan.has
        )

    def _save_instance(self) -> None:
        instance, plan = self.instance, self.plan
        kept = dict(instance.system_metadata)
        prefix = utils.SM_IMAGE_PROP_PREFIX
        for key in [key for key in kept if key.startswith(prefix)]:
            del kept[key]
        kept.update({prefix + name: value for name, value in plan.has.items()})
        hardware_record.clear(kept)
        kept.update(plan.hardware)
        system_metadata.replace_record(kept, plan.after, plan.replaced)
        system_metadata.write_registered(kept, plan.registered)
        instance.system_metadata = kept
        instance.update(self.columns)
        _release(instance)

    def _roll_back(self, reason: str) -> None:
        """Put everything back; each step is tried, whatever the others do."""
        instance = self.instance

        def release() -> None:
            instance.refresh()
            _release(instance)

        steps: list[Callable[[], None]] = [
            *reversed(self.undo),
            release,
            lambda: override_actions.fail(self.context, instance, reason),
        ]
        for step in steps:
            try:
                step()
            except Exception:
                LOG.exception(
                    "Could not undo a change of overrides",
                    instance=instance,
                )
