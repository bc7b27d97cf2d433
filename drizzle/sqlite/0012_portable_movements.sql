DROP INDEX `receipts_movements`;--> statement-breakpoint
CREATE INDEX `receipts_movements` ON `receipts` (`account_id`,`sequence`) WHERE substr("receipts"."subject", 1, 4) <> 'req_';