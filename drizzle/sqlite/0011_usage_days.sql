-- Whoever has series already gets their days out of their hours.
CREATE TABLE `usage_days` (
	`account_id` text NOT NULL,
	`day` integer NOT NULL,
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
	PRIMARY KEY(`account_id`, `day`, `model`, `key_id`)
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `usage_days` SELECT `account_id`, `hour` - `hour` % 86400000 AS `day`, `model`, `key_id`,
  sum(`requests`), sum(`stopped`), sum(`cancelled`), sum(`failed`), sum(`input_tokens`), sum(`cached_input_tokens`),
  sum(`output_tokens`), sum(`reasoning_tokens`), sum(`charged`), sum(`debited`), sum(`loss`)
FROM `usage_hours` GROUP BY `account_id`, `day`, `model`, `key_id`;
