resource "openstack_compute_instance_v2" "server" {
  name        = "from-terraform"
  image_name  = "tiny"
  flavor_name = "tiny"

  network {
    name = "private"
  }

  scheduler_hints {
    additional_properties = {
      "imprint:hw_disk_bus"   = "scsi"
      "imprint:hw_scsi_model" = "virtio-scsi"
    }
  }
}
