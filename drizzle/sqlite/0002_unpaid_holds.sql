-- A hold of which nothing was delivered may end without a row (decision 0135).
DROP TRIGGER open_holds_end;
--> statement-breakpoint
CREATE TRIGGER open_holds_end BEFORE DELETE ON open_holds
WHEN OLD.checkpoint_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM requests WHERE id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'a hold ends with its request'); END;
