-- What the ledger never does, refused by the tables too. CHECK constraints would say the same, but
-- SQLite adds them by writing every row anew.
CREATE TRIGGER usage_records_sound BEFORE INSERT ON usage_records
WHEN NEW.charged <> NEW.debited + NEW.loss OR NEW.debited < 0 OR NEW.loss < 0 OR NEW.held < 0
  OR NEW.input_tokens < 0 OR NEW.cached_input_tokens < 0 OR NEW.cache_write_tokens < 0
  OR NEW.output_tokens < 0 OR NEW.reasoning_tokens < 0
BEGIN SELECT RAISE(ABORT, 'a usage record does not add up'); END;
--> statement-breakpoint
CREATE TRIGGER usage_records_no_update BEFORE UPDATE ON usage_records
BEGIN SELECT RAISE(ABORT, 'usage records are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER usage_records_no_delete BEFORE DELETE ON usage_records
BEGIN SELECT RAISE(ABORT, 'usage records are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER holds_sound BEFORE INSERT ON holds
WHEN NEW.phase <> 'held' OR NEW.ended_at IS NOT NULL
  OR NEW.prompt_tokens < 0 OR NEW.output_bound < 0
BEGIN SELECT RAISE(ABORT, 'a hold does not begin like this'); END;
--> statement-breakpoint
CREATE TRIGGER holds_forward BEFORE UPDATE ON holds
WHEN NEW.account_id <> OLD.account_id OR NEW.amount < OLD.amount
  OR NEW.output_tokens < OLD.output_tokens OR NEW.reasoning_tokens < OLD.reasoning_tokens
  OR (NEW.ended_at IS NULL) <> (NEW.phase IN ('held', 'dispatched'))
  OR (NEW.phase = 'held' AND OLD.phase <> 'held')
BEGIN SELECT RAISE(ABORT, 'a hold never goes back'); END;
--> statement-breakpoint
CREATE TRIGGER price_versions_sound BEFORE INSERT ON price_versions
WHEN NEW.input < 0 OR NEW.cached_input < 0 OR NEW.cache_write < 0 OR NEW.output < 0
BEGIN SELECT RAISE(ABORT, 'a price is not negative'); END;
--> statement-breakpoint
CREATE TRIGGER redemption_codes_sound BEFORE UPDATE ON redemption_codes
WHEN NEW.digest <> OLD.digest OR NEW.amount <> OLD.amount
  OR (NEW.redeemed_at IS NULL) <> (NEW.redeemed_by IS NULL)
  OR (NEW.redeemed_at IS NOT NULL AND NEW.revoked_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a code keeps its worth'); END;
