// Requests that cost nothing, of which a customer can make any number: what they leave in the books,
// where they are counted, and that they hide no end user who pays. Runs against the executable.

import { Database } from 'bun:sqlite';
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { UNPAID_ROWS_MAX } from '../../src/ledger/memory.ts';
import { openBooks } from '../support/books.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { generate, generateStream } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway } from '../support/gateway.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(120_000);

const REQUESTS = 2_500;

/** What each of them may leave, on average. */
const BYTES_EACH = 64;

let upstream: Upstream;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    catalog: catalogFor(upstream, ['ok', 'status-400', 'status-500'], {
      plans: { large: LARGE_PLAN },
    }),
  });
});

closeAtEnd(() => [upstream, gateway]);

function read<Row>(query: string): Row[] {
  using database = new Database(gateway.databasePath, { readonly: true });
  return database.query(query).all() as Row[];
}

function numberOf(query: string): number {
  const [row] = read<{ readonly number: number }>(query);
  return row?.number ?? 0;
}

const bytesOfBooks = (): number =>
  numberOf(`select sum(pgsize) as number from dbstat
    where name like 'requests%' or name like 'usage_%' or name like 'refused%'`);

test('leave few bytes in the books, are counted by kind, and take no name of a paying end user', async () => {
  const account = await gateway.createAccount({ plan: 'large' });
  const before = bytesOfBooks();
  const user = (index: number) => '\u{1d54f}'.repeat(240) + String(index).padStart(10, '0');
  const ids: string[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < REQUESTS) {
      const index = next;
      next += 1;
      const body = { user: user(index) };
      if (index % 50 === 0) {
        const { events } = await generateStream(account, 'chat', 'status-500', body);
        expect(events.length).toBe(0);
      } else {
        const { status, headers } = await generate(account, 'chat', 'status-400', body);
        expect(status).toBe(400);
        ids.push(String(headers.get('x-request-id')));
      }
    }
  };
  await Promise.all(Array.from({ length: 32 }, worker));
  const paid = await generate(account, 'chat', 'ok', { user: 'honest' });
  expect(paid.status).toBe(200);

  const counted = 'select coalesce(sum(count), 0) as number from refused_requests';
  await waitUntil(() => numberOf(counted) === REQUESTS - UNPAID_ROWS_MAX);
  const codes = read<{ readonly code: string }>(
    'select distinct code from refused_requests order by code',
  );
  expect(codes.map(({ code }) => code)).toEqual(['invalid_request', 'provider_unavailable']);
  const named = `from usage_end_users where end_user <> ''`;
  await waitUntil(() => numberOf(`select count(*) as number ${named}`) > 0);
  expect(read(`select distinct end_user ${named}`)).toEqual([{ end_user: 'honest' }]);
  expect(bytesOfBooks() - before).toBeLessThan(REQUESTS * BYTES_EACH);

  const rows = numberOf('select count(*) as number from requests');
  expect(rows).toBe(UNPAID_ROWS_MAX + 1);
  expect(numberOf('select count(*) as number from open_holds')).toBe(0);
  // Recent ones are explained with their attempts.
  const books = openBooks(gateway);
  const story = await books.story(ids[0] ?? '');
  expect(JSON.stringify(story)).toContain('bad_request');
  expect(JSON.stringify(story)).not.toContain('\u{1d54f}');
  await books.close();
  expect(await gateway.run('doctor')).toMatchObject({ ok: true });
});
