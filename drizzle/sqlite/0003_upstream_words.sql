CREATE TABLE `upstream_words` (
	`id` text PRIMARY KEY NOT NULL,
	`upstream` text NOT NULL,
	`model` text NOT NULL,
	`failure` text NOT NULL,
	`status` integer,
	`words` text NOT NULL,
	`count` integer NOT NULL,
	`first_at` integer NOT NULL,
	`last_at` integer NOT NULL,
	`requests` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `upstream_words_place` ON `upstream_words` (`upstream`,`last_at`);