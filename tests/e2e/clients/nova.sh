nova boot --image tiny --flavor tiny --nic net-name=private \
    --hint imprint:hw_disk_bus=scsi \
    --hint imprint:hw_scsi_model=virtio-scsi \
    --poll from-nova
