CREATE TABLE "leases" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"holder" text COLLATE "C" NOT NULL,
	"until" bigint NOT NULL,
	"fence" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "nodes" (
	"boot" text COLLATE "C" PRIMARY KEY NOT NULL,
	"node" text COLLATE "C" NOT NULL,
	"host" text COLLATE "C" NOT NULL,
	"pid" bigint NOT NULL,
	"version" text COLLATE "C" NOT NULL,
	"addresses" text COLLATE "C" NOT NULL,
	"workers" bigint NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"redis" text COLLATE "C" NOT NULL,
	"limits" text COLLATE "C" NOT NULL,
	"catalog_version" bigint NOT NULL,
	"catalog_digest" text COLLATE "C" NOT NULL,
	"in_flight" bigint NOT NULL,
	"clock_offset_ms" bigint NOT NULL,
	"started_at" bigint NOT NULL,
	"heartbeat_at" bigint NOT NULL,
	"seen_at" bigint NOT NULL,
	"dead_at" bigint
);
--> statement-breakpoint
ALTER TABLE "holds" ADD COLUMN "boot" text COLLATE "C" DEFAULT '' NOT NULL;