// SQL views over the ledger of a gateway under test: request ids and names in place of bytes and
// codes, and the hold of a request whether open or ended.

import { Database } from 'bun:sqlite';
import { BASES, OUTCOMES } from '../../src/core/generation.ts';
import { unpackText } from '../../src/core/shape.ts';
import { FORMATS, HOLD_ENDS } from '../../src/store/columns.ts';

/** A connection that only reads; close it. */
export function readBooks(
  path: string,
  options: { readonly safeIntegers?: boolean } = {},
): Database {
  const books = new Database(path, { ...options, readonly: true });
  const request = (column: string) => `'req_' || lower(hex(${column}))`;
  const word = (column: string, words: readonly string[]) =>
    `CASE ${column} ${words.map((each, code) => `WHEN ${code} THEN '${each}'`).join(' ')} END`;
  books.run(`CREATE TEMP VIEW usage_records AS SELECT ${request('u.request_id')} AS request_id,
    ${word('u.format', FORMATS)} AS format, ${word('u.outcome', OUTCOMES)} AS outcome,
    ${word('u.usage_basis', BASES)} AS usage_basis, ${word('u.ending', HOLD_ENDS)} AS ending,
    u.number, u.account_id, u.key_id, u.stream, u.model_requested, u.model_served, u.upstream,
    u.input_tokens, u.cached_input_tokens, u.cache_write_tokens, u.output_tokens,
    u.reasoning_tokens, u.estimated_prompt_tokens, u.held, u.charged, u.debited, u.loss,
    u.end_user, u.started_at, u.ended_at, u.report, u.attempts
    FROM main.usage_records u`);
  books.run(`CREATE TEMP VIEW holds AS
    SELECT ${request('h.request_id')} AS request_id, h.account_id, h.amount, NULL AS ended_at,
      CASE WHEN h.checkpoint_at IS NULL THEN 'held' ELSE 'delivering' END AS phase
    FROM main.holds h
    UNION ALL SELECT request_id, account_id, held, ended_at, ending FROM temp.usage_records`);
  books.run(`CREATE TEMP VIEW ledger_entries AS
    SELECT coalesce(e.transfer_id, e.kind || ':' || ${request('e.request_id')}) AS transfer_id,
      e.ledger_account, e.amount, e.kind, e.at, e.reason FROM main.ledger_entries e`);
  return books;
}

/** A report or the attempts of a record, as they were given. */
export function unpacked(books: Database, packed: Uint8Array): string {
  const texts = books.query<{ text: string }, [number]>('SELECT text FROM texts WHERE number = ?');
  return unpackText(packed, (number) => texts.get(number)?.text ?? '');
}
