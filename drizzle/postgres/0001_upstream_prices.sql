ALTER TABLE "price_versions" ADD COLUMN "terms" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "requests" ADD COLUMN "details" bytea;
--> statement-breakpoint
-- The view with the new column at its end.
CREATE OR REPLACE VIEW usage_records AS SELECT
  r.number AS number, r.id AS request_id, b.account_id AS account_id,
  (SELECT text FROM texts WHERE number = r.key) AS key_id,
  r.format AS format, r.stream AS stream,
  (SELECT text FROM texts WHERE number = r.model) AS model_requested,
  (SELECT text FROM texts WHERE number = r.model_served) AS model_served,
  (SELECT text FROM texts WHERE number = r.upstream) AS upstream,
  r.outcome AS outcome, r.ending % 3 AS ending,
  r.input_tokens AS input_tokens, r.cached_input_tokens AS cached_input_tokens,
  r.cache_write_tokens AS cache_write_tokens, r.output_tokens AS output_tokens,
  r.reasoning_tokens AS reasoning_tokens, r.basis AS usage_basis, r.doubt AS usage_doubt,
  r.prompt_tokens AS estimated_prompt_tokens, r.output_bound AS output_bound,
  (SELECT version FROM price_versions WHERE number = r.price) AS price_version_requested,
  (SELECT version FROM price_versions WHERE number = r.price_served) AS price_version_served,
  r.held AS held, r.charged AS charged, r.charged - r.loss AS debited, r.loss AS loss,
  r.end_user AS end_user, r.started_at AS started_at, r.started_at + r.duration_ms AS ended_at,
  r.usd_per_million AS usd_per_million, r.sequence AS sequence, r.posted AS posted,
  r.reserved AS reserved, r.hash AS hash, r.report AS report, r.attempts AS attempts,
  CASE WHEN r.ending < 3 THEN NULL ELSE r.ending / 3 - 1 END AS failure,
  r.details AS details
FROM requests r JOIN balances b ON b.number = r.account;
