"""Nova's routes, served by Imprint's parts."""

from nova.api.openstack.compute import routes
from nova.api.openstack.compute import servers as nova_servers
from nova.compute import api as nova_compute
from nova.image import glance
from tests.functional import case

from imprint.nova import compute_api, image_api, override_changes, router
from imprint.nova.servers import ServersController


def is_own(path, own):
    """Tell whether a path of the map, with a project or without, is ours."""
    return any(path.endswith(route) for route in own)


class TestRouter(case.ApiCase):
    def test_every_controller_has_imprints_compute_api(self):
        served = router.Router.factory({})
        controllers = [
            controller
            for resource in {
                route.defaults["controller"]
                for route in served.map.matchlist
                if not route.redirect
            }
            for controller in router.list_controllers(resource)
        ]
        held = {
            id(value): value
            for controller in controllers
            for value in vars(controller).values()
            if isinstance(value, nova_compute.API)
        }
        (api,) = held.values()
        self.assertIs(override_changes.API, type(api))
        self.assertIs(image_api.API, type(api.image_api))
        self.assertIsNone(api.overrides)
        kinds = {type(controller) for controller in controllers}
        self.assertIn(ServersController, kinds)
        self.assertNotIn(nova_servers.ServersController, kinds)

    def test_the_routes_are_novas_and_our_own(self):
        def listed(mapper):
            return [
                (route.routepath, route.conditions, route.defaults["action"])
                for route in mapper.matchlist
                if not route.redirect
            ]

        ours = router.Router.factory({})
        novas = routes.APIRouterV21.factory({})
        own = {
            path
            for routes_of_one in router.ROUTES.values()
            for _method, path, _action in routes_of_one
        }
        self.assertEqual(
            listed(novas.map),
            [route for route in listed(ours.map) if not is_own(route[0], own)],
        )
        self.assertEqual(
            [r.routepath for r in novas.map.matchlist if r.redirect],
            [r.routepath for r in ours.map.matchlist if r.redirect],
        )

    def test_one_requests_overrides_are_not_anothers(self):
        shared = compute_api.API(protections=None)
        one = shared.with_overrides({"hw_disk_bus": "ide"})
        other = shared.with_overrides({"hw_disk_bus": "scsi"})
        self.assertIsNone(shared.overrides)
        self.assertEqual({"hw_disk_bus": "ide"}, one.overrides)
        self.assertEqual({"hw_disk_bus": "scsi"}, other.overrides)
        # but all that is costly to make
        self.assertIs(shared.compute_rpcapi, one.compute_rpcapi)
        self.assertIsInstance(shared.image_api, glance.API)
