ALTER TABLE "balances" ADD COLUMN "unpaid" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "holds" ADD COLUMN "worst" bigint DEFAULT 0 NOT NULL;