openstack server create --image tiny --flavor tiny --network private \
    --hint 'image_props_override={"hw_disk_bus": "scsi",
                                  "hw_scsi_model": "virtio-scsi"}' \
    --wait from-openstackclient-json
