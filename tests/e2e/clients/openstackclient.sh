openstack server create --image tiny --flavor tiny --network private \
    --hint imprint:hw_disk_bus=scsi \
    --hint imprint:hw_scsi_model=virtio-scsi \
    --wait from-openstackclient
