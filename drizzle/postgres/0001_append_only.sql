-- What the books never do, refused by the tables too: the same triggers, by the same names, as in
-- SQLite, and one that refuses to empty a table, which SQLite cannot do without deleting its rows.
CREATE FUNCTION tollgate_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '%', TG_ARGV[0]; END $$;
--> statement-breakpoint
CREATE TRIGGER ledger_entries_no_update BEFORE UPDATE ON ledger_entries
FOR EACH ROW EXECUTE FUNCTION tollgate_refuse('ledger entries are append-only');
--> statement-breakpoint
CREATE TRIGGER ledger_entries_no_delete BEFORE DELETE OR TRUNCATE ON ledger_entries
FOR EACH STATEMENT EXECUTE FUNCTION tollgate_refuse('ledger entries are append-only');
--> statement-breakpoint
CREATE TRIGGER audit_events_no_update BEFORE UPDATE ON audit_events
FOR EACH ROW EXECUTE FUNCTION tollgate_refuse('audit events are append-only');
--> statement-breakpoint
CREATE TRIGGER audit_events_no_delete BEFORE DELETE OR TRUNCATE ON audit_events
FOR EACH STATEMENT EXECUTE FUNCTION tollgate_refuse('audit events are append-only');
--> statement-breakpoint
CREATE TRIGGER price_versions_no_update BEFORE UPDATE ON price_versions
FOR EACH ROW EXECUTE FUNCTION tollgate_refuse('price versions are never changed');
--> statement-breakpoint
CREATE TRIGGER price_versions_no_delete BEFORE DELETE OR TRUNCATE ON price_versions
FOR EACH STATEMENT EXECUTE FUNCTION tollgate_refuse('price versions are never changed');
--> statement-breakpoint
CREATE TRIGGER price_versions_sound BEFORE INSERT ON price_versions FOR EACH ROW
WHEN (NEW.input < 0 OR NEW.cached_input < 0 OR NEW.cache_write < 0 OR NEW.output < 0)
EXECUTE FUNCTION tollgate_refuse('a price is not negative');
--> statement-breakpoint
CREATE TRIGGER receipts_no_update BEFORE UPDATE ON receipts
FOR EACH ROW EXECUTE FUNCTION tollgate_refuse('receipts are append-only');
--> statement-breakpoint
CREATE TRIGGER receipts_no_delete BEFORE DELETE OR TRUNCATE ON receipts
FOR EACH STATEMENT EXECUTE FUNCTION tollgate_refuse('receipts are append-only');
--> statement-breakpoint
CREATE TRIGGER usage_records_sound BEFORE INSERT ON usage_records FOR EACH ROW
WHEN (NEW.charged <> NEW.debited + NEW.loss OR NEW.debited < 0 OR NEW.loss < 0 OR NEW.held < 0
  OR NEW.input_tokens < 0 OR NEW.cached_input_tokens < 0 OR NEW.cache_write_tokens < 0
  OR NEW.output_tokens < 0 OR NEW.reasoning_tokens < 0)
EXECUTE FUNCTION tollgate_refuse('a usage record does not add up');
--> statement-breakpoint
CREATE TRIGGER usage_records_no_update BEFORE UPDATE ON usage_records
FOR EACH ROW EXECUTE FUNCTION tollgate_refuse('usage records are append-only');
--> statement-breakpoint
CREATE TRIGGER usage_records_no_delete BEFORE DELETE OR TRUNCATE ON usage_records
FOR EACH STATEMENT EXECUTE FUNCTION tollgate_refuse('usage records are append-only');
--> statement-breakpoint
CREATE TRIGGER holds_sound BEFORE INSERT ON holds FOR EACH ROW
WHEN (NEW.phase <> 'held' OR NEW.ended_at IS NOT NULL
  OR NEW.prompt_tokens < 0 OR NEW.output_bound < 0)
EXECUTE FUNCTION tollgate_refuse('a hold does not begin like this');
--> statement-breakpoint
CREATE TRIGGER holds_forward BEFORE UPDATE ON holds FOR EACH ROW
WHEN (NEW.account_id <> OLD.account_id OR NEW.amount < OLD.amount
  OR NEW.output_tokens < OLD.output_tokens OR NEW.reasoning_tokens < OLD.reasoning_tokens
  OR (NEW.ended_at IS NULL) <> (NEW.phase IN ('held', 'dispatched'))
  OR (NEW.phase = 'held' AND OLD.phase <> 'held'))
EXECUTE FUNCTION tollgate_refuse('a hold never goes back');
--> statement-breakpoint
CREATE TRIGGER holds_end_once BEFORE UPDATE ON holds FOR EACH ROW
WHEN (OLD.ended_at IS NOT NULL)
EXECUTE FUNCTION tollgate_refuse('a hold ends once');
--> statement-breakpoint
CREATE TRIGGER holds_no_delete BEFORE DELETE OR TRUNCATE ON holds
FOR EACH STATEMENT EXECUTE FUNCTION tollgate_refuse('holds are never deleted');
--> statement-breakpoint
CREATE TRIGGER redemption_codes_once BEFORE UPDATE ON redemption_codes FOR EACH ROW
WHEN (OLD.redeemed_at IS NOT NULL OR OLD.revoked_at IS NOT NULL)
EXECUTE FUNCTION tollgate_refuse('a code is used or revoked once');
--> statement-breakpoint
CREATE TRIGGER redemption_codes_sound BEFORE UPDATE ON redemption_codes FOR EACH ROW
WHEN (NEW.digest <> OLD.digest OR NEW.amount <> OLD.amount
  OR (NEW.redeemed_at IS NULL) <> (NEW.redeemed_by IS NULL)
  OR (NEW.redeemed_at IS NOT NULL AND NEW.revoked_at IS NOT NULL))
EXECUTE FUNCTION tollgate_refuse('a code keeps its worth');
--> statement-breakpoint
CREATE TRIGGER redemption_codes_no_delete BEFORE DELETE OR TRUNCATE ON redemption_codes
FOR EACH STATEMENT EXECUTE FUNCTION tollgate_refuse('codes are never deleted');
--> statement-breakpoint
-- Whoever follows the trail asks for the events above the last one that it saw. So the events have
-- to become visible in the order of their numbers: writers wait for each other until they commit.
-- The trigger is one of the statement, because rows come to theirs with their number.
CREATE FUNCTION tollgate_one_by_one() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_advisory_xact_lock(7480, 2); RETURN NULL; END $$;
--> statement-breakpoint
CREATE TRIGGER audit_events_one_by_one BEFORE INSERT ON audit_events
FOR EACH STATEMENT EXECUTE FUNCTION tollgate_one_by_one();
--> statement-breakpoint
-- How far the usage records are added up: one row, which is there from the beginning.
INSERT INTO usage_mark (id, last_record) VALUES (1, 0);
