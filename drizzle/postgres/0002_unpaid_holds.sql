-- A hold of which nothing was delivered may end without a row (decision 0135).
CREATE OR REPLACE FUNCTION tollgate_hold_ends() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET jit = off AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM gone g WHERE g.checkpoint_at IS NOT NULL
    AND (SELECT r.id FROM requests r WHERE r.id = g.id LIMIT 1) IS NULL) THEN
    RAISE EXCEPTION 'a hold ends with its request';
  END IF;
  RETURN NULL;
END $$;
