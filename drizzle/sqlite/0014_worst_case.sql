ALTER TABLE `balances` ADD `unpaid` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `holds` ADD `worst` integer DEFAULT 0 NOT NULL;