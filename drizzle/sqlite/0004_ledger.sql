CREATE TABLE `receipts` (
	`account_id` text NOT NULL,
	`sequence` integer NOT NULL,
	`subject` text NOT NULL,
	`at` integer NOT NULL,
	`body` text NOT NULL,
	`hash` text NOT NULL,
	PRIMARY KEY(`account_id`, `sequence`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `receipts_subject` ON `receipts` (`subject`);--> statement-breakpoint
CREATE TABLE `redemption_codes` (
	`digest` text PRIMARY KEY NOT NULL,
	`masked` text NOT NULL,
	`amount` integer NOT NULL,
	`reason` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`revoked_at` integer,
	`redeemed_at` integer,
	`redeemed_by` text,
	CONSTRAINT "redemption_codes_amount" CHECK("redemption_codes"."amount" between 1 and 1000000000000000000)
);
--> statement-breakpoint
ALTER TABLE `holds` ADD `format` text DEFAULT 'chat' NOT NULL;--> statement-breakpoint
ALTER TABLE `holds` ADD `stream` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `holds` ADD `end_user` text;--> statement-breakpoint
ALTER TABLE `holds` ADD `upstream` text;--> statement-breakpoint
ALTER TABLE `holds` ADD `model_served` text;--> statement-breakpoint
ALTER TABLE `holds` ADD `price_version_served` text;--> statement-breakpoint
ALTER TABLE `holds` ADD `output_tokens` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `holds` ADD `reasoning_tokens` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `holds` ADD `dispatched_at` integer;--> statement-breakpoint
ALTER TABLE `holds` ADD `checkpoint_at` integer;--> statement-breakpoint
ALTER TABLE `price_versions` ADD `cache_write` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_records` ADD `cache_write_tokens` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `usage_records` ADD `raw_usage` text;--> statement-breakpoint
ALTER TABLE `usage_records` ADD `usage_doubt` text;--> statement-breakpoint
-- Until now what was written to a cache cost what the rest of the prompt does.
DROP TRIGGER price_versions_no_update;
--> statement-breakpoint
UPDATE price_versions SET cache_write = input;
--> statement-breakpoint
CREATE TRIGGER price_versions_no_update BEFORE UPDATE ON price_versions
BEGIN SELECT RAISE(ABORT, 'price versions are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER receipts_no_update BEFORE UPDATE ON receipts
BEGIN SELECT RAISE(ABORT, 'receipts are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER receipts_no_delete BEFORE DELETE ON receipts
BEGIN SELECT RAISE(ABORT, 'receipts are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER holds_end_once BEFORE UPDATE ON holds WHEN OLD.ended_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a hold ends once'); END;
--> statement-breakpoint
CREATE TRIGGER holds_no_delete BEFORE DELETE ON holds
BEGIN SELECT RAISE(ABORT, 'holds are never deleted'); END;
--> statement-breakpoint
CREATE TRIGGER redemption_codes_once BEFORE UPDATE ON redemption_codes
WHEN OLD.redeemed_at IS NOT NULL OR OLD.revoked_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a code is used or revoked once'); END;
--> statement-breakpoint
CREATE TRIGGER redemption_codes_no_delete BEFORE DELETE ON redemption_codes
BEGIN SELECT RAISE(ABORT, 'codes are never deleted'); END;
