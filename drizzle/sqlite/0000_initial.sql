CREATE TABLE `archived_months` (
	`number` integer PRIMARY KEY NOT NULL,
	`account` integer NOT NULL,
	`month` text NOT NULL,
	`first_sequence` integer NOT NULL,
	`last_sequence` integer NOT NULL,
	`requests` integer NOT NULL,
	`movements` integer NOT NULL,
	`opening` integer NOT NULL,
	`credited` integer NOT NULL,
	`debited` integer NOT NULL,
	`loss` integer NOT NULL,
	`closing` integer NOT NULL,
	`head` blob NOT NULL,
	`movements_digest` blob NOT NULL,
	`receipts_digest` blob NOT NULL,
	`receipts_bytes` integer NOT NULL,
	`books_digest` blob NOT NULL,
	`books_bytes` integer NOT NULL,
	`last_row` integer NOT NULL,
	`archived_at` integer NOT NULL,
	`previous` blob,
	`hash` blob NOT NULL,
	`state` integer NOT NULL,
	`ids_from` integer NOT NULL,
	`ids_to` integer NOT NULL,
	`ids` blob NOT NULL,
	CONSTRAINT "archived_months_sound" CHECK("archived_months"."first_sequence" between 1 and "archived_months"."last_sequence"
        and "archived_months"."requests" + "archived_months"."movements" = "archived_months"."last_sequence" - "archived_months"."first_sequence" + 1
        and "archived_months"."closing" = "archived_months"."opening" + "archived_months"."credited" - "archived_months"."debited")
);
--> statement-breakpoint
CREATE UNIQUE INDEX `archived_months_month` ON `archived_months` (`account`,`month`);--> statement-breakpoint
CREATE UNIQUE INDEX `archived_months_first` ON `archived_months` (`account`,`first_sequence`);--> statement-breakpoint
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
CREATE TABLE `alerts` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`subject` text NOT NULL,
	`alert` text NOT NULL,
	`count` integer NOT NULL,
	`first_at` integer NOT NULL,
	`last_at` integer NOT NULL,
	`acknowledged_at` integer,
	`acknowledged_by` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `alerts_subject` ON `alerts` (`kind`,`subject`);--> statement-breakpoint
CREATE INDEX `alerts_last` ON `alerts` (`last_at`);--> statement-breakpoint
CREATE TABLE `approvals` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`kind` text NOT NULL,
	`account_id` text,
	`key` text NOT NULL,
	`amount` integer NOT NULL,
	`request` text NOT NULL,
	`asked_by` text NOT NULL,
	`asked_by_name` text NOT NULL,
	`asked_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`state` text NOT NULL,
	`decided_by_name` text,
	`decided_at` integer,
	`note` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `approvals_id` ON `approvals` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `approvals_key` ON `approvals` (`key`);--> statement-breakpoint
CREATE INDEX `approvals_expiry` ON `approvals` (`expires_at`);--> statement-breakpoint
CREATE TABLE `operator_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`digest` text NOT NULL,
	`masked` text NOT NULL,
	`name` text NOT NULL,
	`scopes` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by` text NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer,
	`last_used_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `operator_tokens_digest` ON `operator_tokens` (`digest`);--> statement-breakpoint
CREATE TABLE `balances` (
	`number` integer PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`posted` integer NOT NULL,
	`held` integer NOT NULL,
	`unpaid` integer DEFAULT 0 NOT NULL,
	`sequence` integer DEFAULT 0 NOT NULL,
	`head` blob,
	`receipted` integer DEFAULT 0 NOT NULL,
	`budgets` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "balances_posted" CHECK("balances"."posted" between 0 and 1000000000000000000),
	CONSTRAINT "balances_held" CHECK("balances"."held" between 0 and "balances"."posted")
);
--> statement-breakpoint
CREATE UNIQUE INDEX `balances_account` ON `balances` (`account_id`);--> statement-breakpoint
CREATE TABLE `key_budgets` (
	`number` integer PRIMARY KEY NOT NULL,
	`account` integer NOT NULL,
	`family` integer NOT NULL,
	`limit_total` integer,
	`limit_day` integer,
	`limit_month` integer,
	`spent_total` integer NOT NULL,
	`day` integer NOT NULL,
	`spent_day` integer NOT NULL,
	`month` integer NOT NULL,
	`spent_month` integer NOT NULL,
	CONSTRAINT "key_budgets_sound" CHECK("key_budgets"."spent_day" between 0 and "key_budgets"."spent_total"
        and "key_budgets"."spent_month" between 0 and "key_budgets"."spent_total")
);
--> statement-breakpoint
CREATE UNIQUE INDEX `key_budgets_family` ON `key_budgets` (`family`);--> statement-breakpoint
CREATE INDEX `key_budgets_account` ON `key_budgets` (`account`);--> statement-breakpoint
CREATE TABLE `movements` (
	`number` integer PRIMARY KEY NOT NULL,
	`transfer_id` text NOT NULL,
	`account` integer NOT NULL,
	`kind` integer NOT NULL,
	`amount` integer NOT NULL,
	`at` integer NOT NULL,
	`reason` text NOT NULL,
	`sequence` integer NOT NULL,
	`posted` integer NOT NULL,
	`reserved` integer NOT NULL,
	`previous` blob,
	`hash` blob NOT NULL,
	CONSTRAINT "movements_amount" CHECK("movements"."amount" between -1000000000000000000 and 1000000000000000000)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `movements_transfer` ON `movements` (`transfer_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `movements_receipt` ON `movements` (`account`,`sequence`);--> statement-breakpoint
CREATE TABLE `open_holds` (
	`id` blob PRIMARY KEY NOT NULL,
	`account` integer NOT NULL,
	`key` integer NOT NULL,
	`format` integer NOT NULL,
	`stream` integer NOT NULL,
	`model` integer NOT NULL,
	`price` integer NOT NULL,
	`prompt_tokens` integer NOT NULL,
	`output_bound` integer NOT NULL,
	`started_at` integer NOT NULL,
	`end_user` text,
	`amount` integer NOT NULL,
	`worst` integer NOT NULL,
	`incarnation` integer,
	`checkpoint_at` integer,
	`upstream` integer,
	`model_served` integer,
	`price_served` integer,
	`output_tokens` integer NOT NULL,
	`reasoning_tokens` integer NOT NULL,
	`family` integer,
	`budgeted` integer,
	CONSTRAINT "open_holds_amount" CHECK("open_holds"."amount" between 0 and 1000000000000000000),
	CONSTRAINT "open_holds_sound" CHECK("open_holds"."worst" >= "open_holds"."amount" and "open_holds"."prompt_tokens" >= 0 and "open_holds"."output_bound" >= 0)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `open_holds_account` ON `open_holds` (`account`);--> statement-breakpoint
CREATE TABLE `price_versions` (
	`number` integer PRIMARY KEY NOT NULL,
	`version` text NOT NULL,
	`model` text NOT NULL,
	`input` integer NOT NULL,
	`cached_input` integer NOT NULL,
	`cache_write` integer NOT NULL,
	`output` integer NOT NULL,
	`first_used_at` integer NOT NULL,
	CONSTRAINT "price_versions_sound" CHECK("price_versions"."input" >= 0 and "price_versions"."cached_input" >= 0
        and "price_versions"."cache_write" >= 0 and "price_versions"."output" >= 0)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `price_versions_version` ON `price_versions` (`version`);--> statement-breakpoint
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
CREATE TABLE `requests` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` blob NOT NULL,
	`account` integer NOT NULL,
	`key` integer NOT NULL,
	`format` integer NOT NULL,
	`stream` integer NOT NULL,
	`model` integer NOT NULL,
	`price` integer NOT NULL,
	`prompt_tokens` integer NOT NULL,
	`output_bound` integer NOT NULL,
	`started_at` integer NOT NULL,
	`end_user` text,
	`duration_ms` integer NOT NULL,
	`outcome` integer NOT NULL,
	`ending` integer NOT NULL,
	`upstream` integer,
	`model_served` integer,
	`price_served` integer,
	`input_tokens` integer NOT NULL,
	`cached_input_tokens` integer NOT NULL,
	`cache_write_tokens` integer NOT NULL,
	`output_tokens` integer NOT NULL,
	`reasoning_tokens` integer NOT NULL,
	`basis` integer NOT NULL,
	`doubt` integer,
	`held` integer NOT NULL,
	`charged` integer NOT NULL,
	`loss` integer NOT NULL,
	`usd_per_million` integer NOT NULL,
	`sequence` integer NOT NULL,
	`posted` integer NOT NULL,
	`reserved` integer NOT NULL,
	`hash` blob NOT NULL,
	`report` blob,
	`attempts` blob,
	CONSTRAINT "requests_sound" CHECK("requests"."loss" between 0 and "requests"."charged" and "requests"."held" between 0 and 1000000000000000000
        and "requests"."input_tokens" >= 0 and "requests"."cached_input_tokens" >= 0
        and "requests"."cache_write_tokens" >= 0 and "requests"."output_tokens" >= 0
        and "requests"."reasoning_tokens" >= 0)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `requests_id` ON `requests` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `requests_receipt` ON `requests` (`account`,`sequence`);--> statement-breakpoint
CREATE INDEX `requests_account` ON `requests` (`account`,`started_at`);--> statement-breakpoint
CREATE TABLE `texts` (
	`number` integer PRIMARY KEY NOT NULL,
	`text` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `texts_text` ON `texts` (`text`);--> statement-breakpoint
CREATE TABLE `refused_requests` (
	`id` blob PRIMARY KEY NOT NULL,
	`account_id` text,
	`key_id` text,
	`at` integer NOT NULL,
	`last_at` integer NOT NULL,
	`count` integer NOT NULL,
	`route` text NOT NULL,
	`model` text,
	`status` integer NOT NULL,
	`code` text NOT NULL,
	`message` text
);
--> statement-breakpoint
CREATE INDEX `refused_requests_account` ON `refused_requests` (`account_id`,`at`);--> statement-breakpoint
CREATE INDEX `refused_requests_at` ON `refused_requests` (`at`);--> statement-breakpoint
CREATE TABLE `usage_accounts` (
	`account_id` text NOT NULL,
	`day` integer NOT NULL,
	`requests` integer NOT NULL,
	`failed` integer NOT NULL,
	`debited` integer NOT NULL,
	`upstream_cost` integer NOT NULL,
	`margin` integer NOT NULL,
	`uncosted` integer NOT NULL,
	PRIMARY KEY(`account_id`, `day`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage_days` (
	`account_id` text NOT NULL,
	`day` integer NOT NULL,
	`model` text NOT NULL,
	`requested` text NOT NULL,
	`key_id` text NOT NULL,
	`requests` integer NOT NULL,
	`stopped` integer NOT NULL,
	`cancelled` integer NOT NULL,
	`failed` integer NOT NULL,
	`input_tokens` integer NOT NULL,
	`cached_input_tokens` integer NOT NULL,
	`output_tokens` integer NOT NULL,
	`reasoning_tokens` integer NOT NULL,
	`charged` integer NOT NULL,
	`debited` integer NOT NULL,
	`loss` integer NOT NULL,
	PRIMARY KEY(`account_id`, `day`, `model`, `requested`, `key_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage_end_users` (
	`account_id` text NOT NULL,
	`day` integer NOT NULL,
	`end_user` text NOT NULL,
	`model` text NOT NULL,
	`requested` text NOT NULL,
	`key_id` text NOT NULL,
	`requests` integer NOT NULL,
	`stopped` integer NOT NULL,
	`cancelled` integer NOT NULL,
	`failed` integer NOT NULL,
	`input_tokens` integer NOT NULL,
	`cached_input_tokens` integer NOT NULL,
	`output_tokens` integer NOT NULL,
	`reasoning_tokens` integer NOT NULL,
	`charged` integer NOT NULL,
	`debited` integer NOT NULL,
	`loss` integer NOT NULL,
	PRIMARY KEY(`account_id`, `day`, `end_user`, `model`, `requested`, `key_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage_hours` (
	`account_id` text NOT NULL,
	`hour` integer NOT NULL,
	`model` text NOT NULL,
	`requested` text NOT NULL,
	`key_id` text NOT NULL,
	`requests` integer NOT NULL,
	`stopped` integer NOT NULL,
	`cancelled` integer NOT NULL,
	`failed` integer NOT NULL,
	`input_tokens` integer NOT NULL,
	`cached_input_tokens` integer NOT NULL,
	`output_tokens` integer NOT NULL,
	`reasoning_tokens` integer NOT NULL,
	`charged` integer NOT NULL,
	`debited` integer NOT NULL,
	`loss` integer NOT NULL,
	PRIMARY KEY(`account_id`, `hour`, `model`, `requested`, `key_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage_mark` (
	`id` integer PRIMARY KEY NOT NULL,
	`last_record` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `usage_models` (
	`hour` integer NOT NULL,
	`model` text NOT NULL,
	`requested` text NOT NULL,
	`requests` integer NOT NULL,
	`stopped` integer NOT NULL,
	`cancelled` integer NOT NULL,
	`failed` integer NOT NULL,
	`input_tokens` integer NOT NULL,
	`cached_input_tokens` integer NOT NULL,
	`output_tokens` integer NOT NULL,
	`reasoning_tokens` integer NOT NULL,
	`charged` integer NOT NULL,
	`debited` integer NOT NULL,
	`loss` integer NOT NULL,
	`estimated_prompt_tokens` integer NOT NULL,
	`upstream_cost` integer NOT NULL,
	`margin` integer NOT NULL,
	`uncosted` integer NOT NULL,
	PRIMARY KEY(`hour`, `model`, `requested`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage_speeds` (
	`subject` text NOT NULL,
	`length` integer NOT NULL,
	`start` integer NOT NULL,
	`model` text NOT NULL,
	`first_content` blob NOT NULL,
	`duration` blob NOT NULL,
	`speed` blob NOT NULL,
	`attempts` integer NOT NULL,
	`failed` integer NOT NULL,
	`failures` blob NOT NULL,
	PRIMARY KEY(`subject`, `length`, `start`, `model`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `account_deletions` (
	`account_id` text PRIMARY KEY NOT NULL,
	`asked_at` integer NOT NULL,
	`due_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `account_deletions_due` ON `account_deletions` (`due_at`);--> statement-breakpoint
CREATE TABLE `sign_in_attempts` (
	`name` text PRIMARY KEY NOT NULL,
	`failures` integer NOT NULL,
	`next_at` integer NOT NULL,
	`ends_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `sign_in_attempts_end` ON `sign_in_attempts` (`ends_at`);--> statement-breakpoint
CREATE TABLE `sign_in_challenges` (
	`digest` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`attempts` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `sign_in_users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `sign_in_challenges_user` ON `sign_in_challenges` (`user_id`);--> statement-breakpoint
CREATE INDEX `sign_in_challenges_expiry` ON `sign_in_challenges` (`expires_at`);--> statement-breakpoint
CREATE TABLE `invites` (
	`id` text PRIMARY KEY NOT NULL,
	`digest` text NOT NULL,
	`email` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`revoked_at` integer,
	`used_at` integer,
	`used_by` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invites_digest` ON `invites` (`digest`);--> statement-breakpoint
CREATE TABLE `sign_in_second_factors` (
	`user_id` text PRIMARY KEY NOT NULL,
	`secret` blob NOT NULL,
	`last_step` integer NOT NULL,
	`recovery_codes` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `sign_in_users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `sign_in_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`digest` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`proven_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`address` text NOT NULL,
	`user_agent` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `sign_in_users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sign_in_sessions_digest` ON `sign_in_sessions` (`digest`);--> statement-breakpoint
CREATE INDEX `sign_in_sessions_user` ON `sign_in_sessions` (`user_id`);--> statement-breakpoint
CREATE INDEX `sign_in_sessions_expiry` ON `sign_in_sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `sign_in_tokens` (
	`digest` text PRIMARY KEY NOT NULL,
	`realm` text NOT NULL,
	`purpose` text NOT NULL,
	`email` text NOT NULL,
	`password` text,
	`invite` text,
	`role` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `sign_in_tokens_email` ON `sign_in_tokens` (`realm`,`email`,`purpose`);--> statement-breakpoint
CREATE INDEX `sign_in_tokens_expiry` ON `sign_in_tokens` (`expires_at`);--> statement-breakpoint
CREATE TABLE `sign_in_users` (
	`id` text PRIMARY KEY NOT NULL,
	`realm` text NOT NULL,
	`email` text NOT NULL,
	`password` text,
	`two_factor_enabled` integer NOT NULL,
	`account_id` text,
	`role` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "sign_in_users_realm" CHECK(("sign_in_users"."realm" = 'customer') = ("sign_in_users"."account_id" is not null))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sign_in_users_email` ON `sign_in_users` (`realm`,`email`);--> statement-breakpoint
CREATE UNIQUE INDEX `sign_in_users_account` ON `sign_in_users` (`account_id`);--> statement-breakpoint
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
	`last_used_address` text,
	`family` text,
	`models` text,
	`networks` text,
	`paused_at` integer,
	`paused_reason` text,
	`is_guarded` integer DEFAULT 1 NOT NULL,
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
	`address` text,
	`action` text NOT NULL,
	`account_id` text,
	`subject` text NOT NULL,
	`detail` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_events_account` ON `audit_events` (`account_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_actor` ON `audit_events` (`actor`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_action` ON `audit_events` (`action`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_subject` ON `audit_events` (`subject`,`id`);--> statement-breakpoint
CREATE TABLE `blocks` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`value` text NOT NULL,
	`reason` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `blocks_value` ON `blocks` (`kind`,`value`);--> statement-breakpoint
CREATE TABLE `idempotent_requests` (
	`id` integer PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`digest` blob NOT NULL,
	`fingerprint` blob NOT NULL,
	`request_id` blob NOT NULL,
	`owner` text NOT NULL,
	`state` integer NOT NULL,
	`created_at` integer NOT NULL,
	`size` integer NOT NULL,
	`sealed` blob
);
--> statement-breakpoint
CREATE UNIQUE INDEX `idempotent_requests_digest` ON `idempotent_requests` (`digest`);--> statement-breakpoint
CREATE INDEX `idempotent_requests_account` ON `idempotent_requests` (`account_id`,`state`,`id`,`size`);--> statement-breakpoint
CREATE INDEX `idempotent_requests_state` ON `idempotent_requests` (`state`,`id`);--> statement-breakpoint
CREATE TABLE `incident_limits` (
	`model` text PRIMARY KEY NOT NULL,
	`requests_per_minute` integer,
	`tokens_per_minute` integer,
	`concurrent_requests` integer,
	`reason` text NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `reasoning` (
	`id` integer PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`digest` blob NOT NULL,
	`created_at` integer NOT NULL,
	`size` integer NOT NULL,
	`sealed` blob NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `reasoning_digest` ON `reasoning` (`digest`);--> statement-breakpoint
CREATE INDEX `reasoning_account` ON `reasoning` (`account_id`,`id`,`size`);--> statement-breakpoint
CREATE TABLE `server_notes` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `settings` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
-- What the books never do, refused by the tables too: what was booked stays booked, and a correction is
-- a new movement.
CREATE TRIGGER requests_no_update BEFORE UPDATE ON requests
BEGIN SELECT RAISE(ABORT, 'requests are append-only'); END;
--> statement-breakpoint
-- Rows leave only after an anchor that covers them, whose files were verified.
CREATE TRIGGER requests_no_delete BEFORE DELETE ON requests
WHEN NOT EXISTS (SELECT 1 FROM archived_months m WHERE m.account = OLD.account AND m.state <> 2
  AND m.first_sequence <= OLD.sequence AND m.last_sequence >= OLD.sequence)
BEGIN SELECT RAISE(ABORT, 'requests are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER archived_months_no_update BEFORE UPDATE OF number, account, month, first_sequence,
  last_sequence, requests, movements, opening, credited, debited, loss, closing, head, movements_digest,
  receipts_digest, receipts_bytes, books_digest, books_bytes, last_row, archived_at, previous, hash,
  ids_from, ids_to, ids ON archived_months
BEGIN SELECT RAISE(ABORT, 'anchors are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER archived_months_no_delete BEFORE DELETE ON archived_months WHEN OLD.state <> 2
BEGIN SELECT RAISE(ABORT, 'an anchor ends with a restore'); END;
--> statement-breakpoint
CREATE TRIGGER movements_no_update BEFORE UPDATE ON movements
BEGIN SELECT RAISE(ABORT, 'movements are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER movements_no_delete BEFORE DELETE ON movements
BEGIN SELECT RAISE(ABORT, 'movements are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER audit_events_no_update BEFORE UPDATE ON audit_events
BEGIN SELECT RAISE(ABORT, 'audit events are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER audit_events_no_delete BEFORE DELETE ON audit_events
BEGIN SELECT RAISE(ABORT, 'audit events are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER price_versions_no_update BEFORE UPDATE ON price_versions
BEGIN SELECT RAISE(ABORT, 'price versions are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER price_versions_no_delete BEFORE DELETE ON price_versions
BEGIN SELECT RAISE(ABORT, 'price versions are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER texts_no_update BEFORE UPDATE ON texts
BEGIN SELECT RAISE(ABORT, 'texts are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER texts_no_delete BEFORE DELETE ON texts
BEGIN SELECT RAISE(ABORT, 'texts are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER open_holds_begin BEFORE INSERT ON open_holds
WHEN NEW.checkpoint_at IS NOT NULL OR NEW.output_tokens <> 0 OR NEW.reasoning_tokens <> 0
BEGIN SELECT RAISE(ABORT, 'a hold does not begin like this'); END;
--> statement-breakpoint
CREATE TRIGGER open_holds_forward BEFORE UPDATE ON open_holds
WHEN NEW.id <> OLD.id OR NEW.account <> OLD.account OR NEW.amount < OLD.amount
  OR NEW.output_tokens < OLD.output_tokens OR NEW.reasoning_tokens < OLD.reasoning_tokens
  OR (NEW.checkpoint_at IS NULL AND OLD.checkpoint_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a hold never goes back'); END;
--> statement-breakpoint
CREATE TRIGGER open_holds_end BEFORE DELETE ON open_holds
WHEN NOT EXISTS (SELECT 1 FROM requests WHERE id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'a hold ends with its request'); END;
--> statement-breakpoint
CREATE TRIGGER balances_no_delete BEFORE DELETE ON balances
BEGIN SELECT RAISE(ABORT, 'balances are never deleted'); END;
--> statement-breakpoint
CREATE TRIGGER balances_forward BEFORE UPDATE ON balances
WHEN NEW.number <> OLD.number OR NEW.account_id <> OLD.account_id OR NEW.sequence < OLD.sequence
BEGIN SELECT RAISE(ABORT, 'a balance never goes back'); END;
--> statement-breakpoint
CREATE TRIGGER key_budgets_no_delete BEFORE DELETE ON key_budgets
BEGIN SELECT RAISE(ABORT, 'budgets are never deleted'); END;
--> statement-breakpoint
CREATE TRIGGER key_budgets_forward BEFORE UPDATE ON key_budgets
WHEN NEW.family <> OLD.family OR NEW.account <> OLD.account OR NEW.spent_total < OLD.spent_total
  OR NEW.day < OLD.day OR NEW.month < OLD.month
BEGIN SELECT RAISE(ABORT, 'what a key has spent never goes back'); END;
--> statement-breakpoint
CREATE TRIGGER redemption_codes_once BEFORE UPDATE ON redemption_codes
WHEN OLD.redeemed_at IS NOT NULL OR OLD.revoked_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a code is used or revoked once'); END;
--> statement-breakpoint
CREATE TRIGGER redemption_codes_sound BEFORE UPDATE ON redemption_codes
WHEN NEW.digest <> OLD.digest OR NEW.amount <> OLD.amount
  OR (NEW.redeemed_at IS NULL) <> (NEW.redeemed_by IS NULL)
  OR (NEW.redeemed_at IS NOT NULL AND NEW.revoked_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a code keeps its worth'); END;
--> statement-breakpoint
CREATE TRIGGER redemption_codes_no_delete BEFORE DELETE ON redemption_codes
BEGIN SELECT RAISE(ABORT, 'codes are never deleted'); END;
--> statement-breakpoint
-- The books by their public ids (src/store/money-views.ts).
CREATE VIEW holds AS SELECT
  h.id AS request_id, b.account_id AS account_id,
  (SELECT text FROM texts WHERE number = h.key) AS key_id,
  h.format AS format, h.stream AS stream, h.end_user AS end_user,
  (SELECT text FROM texts WHERE number = h.model) AS model,
  (SELECT version FROM price_versions WHERE number = h.price) AS price_version,
  h.amount AS amount, h.worst AS worst, h.prompt_tokens AS prompt_tokens,
  h.output_bound AS output_bound, h.started_at AS started_at,
  (SELECT text FROM texts WHERE number = h.incarnation) AS incarnation,
  h.checkpoint_at AS checkpoint_at,
  (SELECT text FROM texts WHERE number = h.upstream) AS upstream,
  (SELECT text FROM texts WHERE number = h.model_served) AS model_served,
  (SELECT version FROM price_versions WHERE number = h.price_served) AS price_version_served,
  h.output_tokens AS output_tokens, h.reasoning_tokens AS reasoning_tokens
FROM open_holds h JOIN balances b ON b.number = h.account;
--> statement-breakpoint
CREATE VIEW usage_records AS SELECT
  r.number AS number, r.id AS request_id, b.account_id AS account_id,
  (SELECT text FROM texts WHERE number = r.key) AS key_id,
  r.format AS format, r.stream AS stream,
  (SELECT text FROM texts WHERE number = r.model) AS model_requested,
  (SELECT text FROM texts WHERE number = r.model_served) AS model_served,
  (SELECT text FROM texts WHERE number = r.upstream) AS upstream,
  r.outcome AS outcome, r.ending % 3 AS ending,
  r.input_tokens AS input_tokens, r.cached_input_tokens AS cached_input_tokens,
  r.cache_write_tokens AS cache_write_tokens, r.output_tokens AS output_tokens,
  r.reasoning_tokens AS reasoning_tokens, r.basis AS usage_basis, r.doubt AS usage_doubt,
  r.prompt_tokens AS estimated_prompt_tokens, r.output_bound AS output_bound,
  (SELECT version FROM price_versions WHERE number = r.price) AS price_version_requested,
  (SELECT version FROM price_versions WHERE number = r.price_served) AS price_version_served,
  r.held AS held, r.charged AS charged, r.charged - r.loss AS debited, r.loss AS loss,
  r.end_user AS end_user, r.started_at AS started_at, r.started_at + r.duration_ms AS ended_at,
  r.usd_per_million AS usd_per_million, r.sequence AS sequence, r.posted AS posted,
  r.reserved AS reserved, r.hash AS hash, r.report AS report, r.attempts AS attempts,
  CASE WHEN r.ending < 3 THEN NULL ELSE r.ending / 3 - 1 END AS failure
FROM requests r JOIN balances b ON b.number = r.account;
--> statement-breakpoint
CREATE VIEW ledger_entries AS
SELECT r.id AS request_id, NULL AS transfer_id, 'operator:revenue' AS ledger_account,
  r.charged - r.loss AS amount, 'settle' AS kind, r.started_at + r.duration_ms AS at, NULL AS reason
FROM requests r WHERE r.charged > r.loss
UNION ALL
SELECT r.id, NULL, 'customer:' || b.account_id, r.loss - r.charged, 'settle',
  r.started_at + r.duration_ms, NULL
FROM requests r JOIN balances b ON b.number = r.account WHERE r.charged > r.loss
UNION ALL
SELECT r.id, NULL, 'operator:revenue', r.loss, 'loss', r.started_at + r.duration_ms, NULL
FROM requests r WHERE r.loss > 0
UNION ALL
SELECT r.id, NULL, 'operator:loss', -r.loss, 'loss', r.started_at + r.duration_ms, NULL
FROM requests r WHERE r.loss > 0
UNION ALL
SELECT NULL, m.transfer_id, 'customer:' || b.account_id, m.amount, CASE m.kind WHEN 0 THEN 'credit' WHEN 1 THEN 'grant' WHEN 2 THEN 'redemption' ELSE 'adjustment' END, m.at, m.reason
FROM movements m JOIN balances b ON b.number = m.account
UNION ALL
SELECT NULL, m.transfer_id, CASE m.kind WHEN 0 THEN 'operator:credits' WHEN 3 THEN 'operator:adjustments'
    ELSE 'operator:promotion' END, -m.amount, CASE m.kind WHEN 0 THEN 'credit' WHEN 1 THEN 'grant' WHEN 2 THEN 'redemption' ELSE 'adjustment' END, m.at, m.reason
FROM movements m;
--> statement-breakpoint
-- How far the requests are added up: one row, which is there from the beginning.
INSERT INTO usage_mark (id, last_record) VALUES (1, 0);
