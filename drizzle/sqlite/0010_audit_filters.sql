CREATE INDEX `audit_events_actor` ON `audit_events` (`actor`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_action` ON `audit_events` (`action`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_subject` ON `audit_events` (`subject`,`id`);