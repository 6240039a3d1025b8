"""The host of image relations: the only importer of Glance."""
