import openstack

conn = openstack.connect()
server = conn.compute.create_server(
    name="from-sdk-dict",
    image_id=conn.image.find_image("tiny").id,
    flavor_id=conn.compute.find_flavor("tiny").id,
    networks=[{"uuid": conn.network.find_network("private").id}],
    scheduler_hints={
        "image_props_override": {
            "hw_disk_bus": "scsi",
            "hw_scsi_model": "virtio-scsi",
        }
    },
)
conn.compute.wait_for_server(server)
