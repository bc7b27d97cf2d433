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
CREATE INDEX `reasoning_account` ON `reasoning` (`account_id`,`id`,`size`);