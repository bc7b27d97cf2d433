CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`plan` text NOT NULL,
	`plan_since` integer NOT NULL,
	`standing` text NOT NULL,
	`email_verified` integer NOT NULL,
	`created_at` integer NOT NULL,
	CONSTRAINT "accounts_standing" CHECK("accounts"."standing" in ('active', 'suspended', 'pending_deletion'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_email` ON `accounts` (`email`);--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`digest` text NOT NULL,
	`masked` text NOT NULL,
	`name` text,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`revoked_at` integer,
	`revoked_reason` text,
	`rotated_from` text,
	`replaced_by` text,
	`last_used_at` integer,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_digest` ON `api_keys` (`digest`);--> statement-breakpoint
CREATE INDEX `api_keys_account` ON `api_keys` (`account_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `audit_events` (
	`id` integer PRIMARY KEY NOT NULL,
	`operation_id` text NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`action` text NOT NULL,
	`account_id` text,
	`subject` text NOT NULL,
	`detail` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_events_account` ON `audit_events` (`account_id`,`id`);--> statement-breakpoint
CREATE TABLE `balances` (
	`account_id` text PRIMARY KEY NOT NULL,
	`posted` integer NOT NULL,
	`held` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "balances_posted" CHECK("balances"."posted" between 0 and 1000000000000000000),
	CONSTRAINT "balances_held" CHECK("balances"."held" between 0 and "balances"."posted")
);
--> statement-breakpoint
CREATE TABLE `blocks` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`value` text NOT NULL,
	`reason` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `blocks_value` ON `blocks` (`kind`,`value`);--> statement-breakpoint
CREATE TABLE `holds` (
	`request_id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`key_id` text NOT NULL,
	`model` text NOT NULL,
	`price_version` text NOT NULL,
	`amount` integer NOT NULL,
	`prompt_tokens` integer NOT NULL,
	`output_bound` integer NOT NULL,
	`phase` text NOT NULL,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	CONSTRAINT "holds_amount" CHECK("holds"."amount" between 0 and 1000000000000000000),
	CONSTRAINT "holds_phase" CHECK("holds"."phase" in ('held', 'dispatched', 'settled', 'released', 'expired'))
);
--> statement-breakpoint
CREATE INDEX `holds_open` ON `holds` (`account_id`) WHERE "holds"."ended_at" is null;--> statement-breakpoint
CREATE TABLE `incident_limits` (
	`model` text PRIMARY KEY NOT NULL,
	`requests_per_minute` integer,
	`tokens_per_minute` integer,
	`concurrent_requests` integer,
	`reason` text NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `ledger_entries` (
	`id` integer PRIMARY KEY NOT NULL,
	`transfer_id` text NOT NULL,
	`ledger_account` text NOT NULL,
	`amount` integer NOT NULL,
	`kind` text NOT NULL,
	`at` integer NOT NULL,
	`reason` text,
	CONSTRAINT "ledger_entries_amount" CHECK("ledger_entries"."amount" between -1000000000000000000 and 1000000000000000000)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_entries_transfer` ON `ledger_entries` (`transfer_id`,`ledger_account`);--> statement-breakpoint
CREATE INDEX `ledger_entries_account` ON `ledger_entries` (`ledger_account`,`id`);--> statement-breakpoint
CREATE TABLE `price_versions` (
	`version` text PRIMARY KEY NOT NULL,
	`model` text NOT NULL,
	`input` integer NOT NULL,
	`cached_input` integer NOT NULL,
	`output` integer NOT NULL,
	`first_used_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `settings` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `usage_records` (
	`request_id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`key_id` text NOT NULL,
	`format` text NOT NULL,
	`stream` integer NOT NULL,
	`model_requested` text NOT NULL,
	`model_served` text,
	`upstream` text,
	`outcome` text NOT NULL,
	`input_tokens` integer NOT NULL,
	`cached_input_tokens` integer NOT NULL,
	`output_tokens` integer NOT NULL,
	`reasoning_tokens` integer NOT NULL,
	`usage_basis` text NOT NULL,
	`estimated_prompt_tokens` integer NOT NULL,
	`price_version_requested` text NOT NULL,
	`price_version_served` text,
	`held` integer NOT NULL,
	`charged` integer NOT NULL,
	`debited` integer NOT NULL,
	`loss` integer NOT NULL,
	`end_user` text,
	`attempts` text NOT NULL,
	`started_at` integer NOT NULL,
	`ended_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `usage_records_account` ON `usage_records` (`account_id`,`started_at`);