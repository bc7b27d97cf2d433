-- Money that was booked stays booked: a correction is a new entry.
CREATE TRIGGER ledger_entries_no_update BEFORE UPDATE ON ledger_entries
BEGIN SELECT RAISE(ABORT, 'ledger entries are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER ledger_entries_no_delete BEFORE DELETE ON ledger_entries
BEGIN SELECT RAISE(ABORT, 'ledger entries are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER audit_events_no_update BEFORE UPDATE ON audit_events
BEGIN SELECT RAISE(ABORT, 'audit events are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER audit_events_no_delete BEFORE DELETE ON audit_events
BEGIN SELECT RAISE(ABORT, 'audit events are append-only'); END;
--> statement-breakpoint
CREATE TRIGGER price_versions_no_update BEFORE UPDATE ON price_versions
BEGIN SELECT RAISE(ABORT, 'price versions are never changed'); END;
--> statement-breakpoint
CREATE TRIGGER price_versions_no_delete BEFORE DELETE ON price_versions
BEGIN SELECT RAISE(ABORT, 'price versions are never changed'); END;
