-- The rows lie in the order of their keys, which every read walks along: hence WITHOUT ROWID.
CREATE TABLE `usage_end_users` (
	`account_id` text NOT NULL,
	`day` integer NOT NULL,
	`end_user` text NOT NULL,
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
	PRIMARY KEY(`account_id`, `day`, `end_user`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage_hours` (
	`account_id` text NOT NULL,
	`hour` integer NOT NULL,
	`model` text NOT NULL,
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
	PRIMARY KEY(`account_id`, `hour`, `model`, `key_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage_mark` (
	`id` integer PRIMARY KEY NOT NULL,
	`last_record` integer NOT NULL
);
--> statement-breakpoint
INSERT INTO `usage_mark` (`id`, `last_record`) VALUES (1, 0);
--> statement-breakpoint
CREATE TABLE `usage_models` (
	`hour` integer NOT NULL,
	`model` text NOT NULL,
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
	PRIMARY KEY(`hour`, `model`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `receipts_movements` ON `receipts` (`account_id`,`sequence`) WHERE "receipts"."subject" not glob 'req_*';