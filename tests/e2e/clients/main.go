package recipe

import (
	"context"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
)

func create(
	ctx context.Context,
	compute *gophercloud.ServiceClient,
	image, flavor, network string,
) (*servers.Server, error) {
	return servers.Create(ctx, compute,
		servers.CreateOpts{
			Name:      "from-gophercloud",
			ImageRef:  image,
			FlavorRef: flavor,
			Networks:  []servers.Network{{UUID: network}},
		},
		servers.SchedulerHintOpts{
			AdditionalProperties: map[string]any{
				"imprint:hw_disk_bus":   "scsi",
				"imprint:hw_scsi_model": "virtio-scsi",
			},
		},
	).Extract()
}
