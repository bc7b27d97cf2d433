-- Sessions and challenges of before end, because their digests had no key. Second factors of before cannot
-- be opened: their users sign in after a reset by the operator.
ALTER TABLE `sign_in_users` ADD `password` text;--> statement-breakpoint
UPDATE `sign_in_users` SET `password` = (SELECT `password` FROM `sign_in_credentials` WHERE `user_id` = `sign_in_users`.`id` AND `provider` = 'credential');--> statement-breakpoint
ALTER TABLE `sign_in_users` DROP COLUMN `email_verified`;--> statement-breakpoint
ALTER TABLE `sign_in_users` DROP COLUMN `updated_at`;--> statement-breakpoint
DROP TABLE `sign_in_credentials`;--> statement-breakpoint
DELETE FROM `sign_in_sessions`;--> statement-breakpoint
ALTER TABLE `sign_in_sessions` DROP COLUMN `realm`;--> statement-breakpoint
ALTER TABLE `sign_in_sessions` DROP COLUMN `updated_at`;--> statement-breakpoint
DROP TABLE `sign_in_challenges`;--> statement-breakpoint
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
DROP TABLE `sign_in_second_factors`;--> statement-breakpoint
CREATE TABLE `sign_in_second_factors` (
	`user_id` text PRIMARY KEY NOT NULL,
	`secret` blob NOT NULL,
	`last_step` integer NOT NULL,
	`recovery_codes` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `sign_in_users`(`id`) ON UPDATE no action ON DELETE cascade
);
