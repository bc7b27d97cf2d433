CREATE TABLE `leases` (
	`name` text PRIMARY KEY NOT NULL,
	`holder` text NOT NULL,
	`until` integer NOT NULL,
	`fence` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `nodes` (
	`boot` text PRIMARY KEY NOT NULL,
	`node` text NOT NULL,
	`host` text NOT NULL,
	`pid` integer NOT NULL,
	`version` text NOT NULL,
	`addresses` text NOT NULL,
	`workers` integer NOT NULL,
	`state` text NOT NULL,
	`redis` text NOT NULL,
	`limits` text NOT NULL,
	`catalog_version` integer NOT NULL,
	`catalog_digest` text NOT NULL,
	`in_flight` integer NOT NULL,
	`clock_offset_ms` integer NOT NULL,
	`started_at` integer NOT NULL,
	`heartbeat_at` integer NOT NULL,
	`seen_at` integer NOT NULL,
	`dead_at` integer
);
--> statement-breakpoint
ALTER TABLE `holds` ADD `boot` text DEFAULT '' NOT NULL;