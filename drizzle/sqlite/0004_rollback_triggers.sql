-- RAISE(ABORT) undoes one statement, so SQLite copies every page that such a statement changes. These
-- refuse on the path of every request, where the writer rolls its transaction back in any case.
DROP TRIGGER open_holds_begin;
--> statement-breakpoint
CREATE TRIGGER open_holds_begin BEFORE INSERT ON open_holds
WHEN NEW.checkpoint_at IS NOT NULL OR NEW.output_tokens <> 0 OR NEW.reasoning_tokens <> 0
  OR EXISTS (SELECT 1 FROM requests WHERE id = NEW.id)
BEGIN SELECT RAISE(ROLLBACK, 'a hold does not begin like this'); END;
--> statement-breakpoint
DROP TRIGGER open_holds_forward;
--> statement-breakpoint
CREATE TRIGGER open_holds_forward BEFORE UPDATE ON open_holds
WHEN NEW.id <> OLD.id OR NEW.account <> OLD.account OR NEW.amount < OLD.amount
  OR NEW.output_tokens < OLD.output_tokens OR NEW.reasoning_tokens < OLD.reasoning_tokens
  OR (NEW.checkpoint_at IS NULL AND OLD.checkpoint_at IS NOT NULL)
BEGIN SELECT RAISE(ROLLBACK, 'a hold never goes back'); END;
--> statement-breakpoint
DROP TRIGGER open_holds_end;
--> statement-breakpoint
CREATE TRIGGER open_holds_end BEFORE DELETE ON open_holds
WHEN OLD.checkpoint_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM requests WHERE id = OLD.id)
BEGIN SELECT RAISE(ROLLBACK, 'a hold ends with its request'); END;
--> statement-breakpoint
DROP TRIGGER balances_forward;
--> statement-breakpoint
CREATE TRIGGER balances_forward BEFORE UPDATE ON balances
WHEN NEW.number <> OLD.number OR NEW.account_id <> OLD.account_id OR NEW.sequence < OLD.sequence
BEGIN SELECT RAISE(ROLLBACK, 'a balance never goes back'); END;
