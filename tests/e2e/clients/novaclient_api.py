import openstack
from novaclient import client

conn = openstack.connect()
nova = client.Client("2.37", session=conn.session)
server = nova.servers.create(
    name="from-novaclient",
    image=nova.glance.find_image("tiny"),
    flavor=nova.flavors.find(name="tiny"),
    nics=[{"net-id": nova.neutron.find_network("private").id}],
    scheduler_hints={
        "imprint:hw_disk_bus": "scsi",
        "imprint:hw_scsi_model": "virtio-scsi",
    },
)
