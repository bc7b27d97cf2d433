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
	`id` text PRIMARY KEY NOT NULL,
	`realm` text NOT NULL,
	`identifier` text NOT NULL,
	`value` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `sign_in_challenges_identifier` ON `sign_in_challenges` (`identifier`);--> statement-breakpoint
CREATE INDEX `sign_in_challenges_expiry` ON `sign_in_challenges` (`expires_at`);--> statement-breakpoint
CREATE TABLE `sign_in_credentials` (
	`id` text PRIMARY KEY NOT NULL,
	`realm` text NOT NULL,
	`user_id` text NOT NULL,
	`subject` text NOT NULL,
	`provider` text NOT NULL,
	`password` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `sign_in_users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sign_in_credentials_user` ON `sign_in_credentials` (`user_id`,`provider`);--> statement-breakpoint
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
	`id` text PRIMARY KEY NOT NULL,
	`realm` text NOT NULL,
	`user_id` text NOT NULL,
	`secret` text NOT NULL,
	`recovery_codes` text NOT NULL,
	`verified` integer NOT NULL,
	`failures` integer NOT NULL,
	`locked_until` integer,
	FOREIGN KEY (`user_id`) REFERENCES `sign_in_users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sign_in_second_factors_user` ON `sign_in_second_factors` (`user_id`);--> statement-breakpoint
CREATE TABLE `sign_in_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`realm` text NOT NULL,
	`user_id` text NOT NULL,
	`digest` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
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
	`email_verified` integer NOT NULL,
	`two_factor_enabled` integer NOT NULL,
	`account_id` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "sign_in_users_realm" CHECK(("sign_in_users"."realm" = 'customer') = ("sign_in_users"."account_id" is not null))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sign_in_users_email` ON `sign_in_users` (`realm`,`email`);--> statement-breakpoint
CREATE UNIQUE INDEX `sign_in_users_account` ON `sign_in_users` (`account_id`);