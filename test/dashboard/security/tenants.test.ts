// Two customers of one gateway: each request with ids of the other is answered as if
// there were no such thing, and nothing of the other is read or changed. Walks over every route.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import { post, requestBody } from '../../support/client.ts';
import { type Customer, openSignUp, signUp } from '../../support/customer.ts';
import { closeAtEnd, type Gateway, startGateway } from '../../support/gateway.ts';
import { type Mailbox, openMailbox } from '../../support/mailbox.ts';
import { waitUntil } from '../../support/upstream.ts';
import { drawn } from './draw.ts';
import { CUSTOMER_ROUTES, pathOf, titled, type WalkedRoute } from './routes.ts';
import { idsAround, rowsThatMention, type Snapshot, takeSnapshot } from './snapshot.ts';

const DRAWS = 8;

setDefaultTimeout(30_000);

let mailbox: Mailbox;
let gateway: Gateway;
let intruder: Customer;
let owner: Customer;
/** The accounts of all that have called. */
const intruders: string[] = [];
/** Everything that names something of the owner's. */
let ids: readonly string[];

beforeAll(async () => {
  mailbox = await openMailbox();
  gateway = await startGateway({ environment: openSignUp(mailbox) });
  owner = await signUp(gateway, mailbox);
  await newIntruder();
  await useEverything(owner);
  await useEverything(intruder);
  const snapshot = takeSnapshot(gateway.databasePath);
  const theirs = new Set(idsAround(snapshot, intruder.accountId));
  ids = idsAround(snapshot, owner.accountId).filter((id) => !theirs.has(id));
});
closeAtEnd(() => [mailbox, gateway]);

/** Leaves a trace in as many tables as a customer can. */
async function useEverything({ accountId, session }: Customer): Promise<void> {
  await gateway.run('account', 'credit', accountId, '100000');
  const made = await session.send('POST', '/keys', { name: 'a key' });
  await session.send('POST', `/keys/${String(made.json['id'])}/rotate`);
  const other = await session.send('POST', '/keys', { name: 'another key' });
  const caller = { url: gateway.url, key: String(other.json['key']) };
  const answer = await post(caller, '/v1/chat/completions', requestBody('chat', 'demo-chat'));
  expect(answer.status).toBe(200);
  await answer.text();
  // What was used is added up a moment later.
  const added = () => takeSnapshot(gateway.databasePath)['usage_hours'] ?? [];
  await waitUntil(() => added().some((row) => row.includes(accountId)));
}

/** The caller may write any text into its own rows, also an id of the owner. */
function ownersRows(): Snapshot {
  const rows = rowsThatMention(takeSnapshot(gateway.databasePath), ids);
  const isOwners = (row: string) => !intruders.some((accountId) => row.includes(accountId));
  return Object.fromEntries(
    Object.entries(rows).map(([table, lines]) => [table, lines.filter(isOwners)]),
  );
}

async function newIntruder(): Promise<Customer> {
  intruder = await signUp(gateway, mailbox);
  intruders.push(intruder.accountId);
  return intruder;
}

/** Some routes end the caller's session or account. */
async function present(customer: Customer): Promise<Customer> {
  const still = await customer.session.get('/account');
  return still.status === 200 ? customer : newIntruder();
}

/** One account for all routes would exceed the limit of changes. */
const callerOf = ({ method }: WalkedRoute): Promise<Customer> =>
  method === 'GET' ? present(intruder) : newIntruder();

async function call(who: Customer, route: WalkedRoute, path: string, body: unknown) {
  const abort = new AbortController();
  const response = await who.session.open(path, {
    method: route.method,
    signal: abort.signal,
    ...(route.method === 'GET'
      ? {}
      : {
          headers: { origin: gateway.url, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
  });
  // A live feed ends only when the client disconnects.
  const isFeed = response.headers.get('content-type')?.startsWith('text/event-stream');
  const text = isFeed ? '' : await response.text();
  if (isFeed) abort.abort();
  return { status: response.status, text };
}

const anonymous = (text: string) => text.replace(/"request_id":"[^"]*"/, '"request_id":""');

const signedIn = CUSTOMER_ROUTES.filter(({ access }) => access !== 'public');
const named = signedIn.filter(({ path }) => path.includes(':'));

test('the owner has left traces that the walks can name', () => {
  const prefixes = new Set(ids.map((id) => /^([a-z]+_)/.exec(id)?.[1] ?? ''));
  expect([...prefixes]).toEqual(
    expect.arrayContaining(['acct_', 'key_', 'op_', 'req_', 'sess_', 'user_']),
  );
});

describe('an id of another customer is as unknown as one that never was (B-176)', () => {
  test.each(titled(named))('%s', async (_title, route) => {
    const before = ownersRows();
    const body = bodyOf(route);
    const who = await callerOf(route);
    const unknown = await call(who, route, pathOf(route, 'none_000000000000000000000000'), body);
    expect(unknown.status).toBe(404);
    for (const id of ids) {
      const answer = await call(who, route, pathOf(route, id), body);
      expect({ id, ...answer, text: anonymous(answer.text) }).toEqual({
        id,
        status: 404,
        text: anonymous(unknown.text),
      });
    }
    expect(ownersRows()).toEqual(before);
  });
});

describe('with ids of another customer, no route returns or changes their data', () => {
  test.each(titled(signedIn.filter(({ body, query }) => typeof body === 'object' || query)))(
    '%s',
    async (_title, route) => {
      const before = ownersRows();
      await callerOf(route);
      await fc.assert(
        fc.asyncProperty(asked(route), async ({ body, query }) => {
          const who = await present(intruder);
          const search = new URLSearchParams(Object.entries(query)).toString();
          const path = `${pathOf(route)}${search === '' ? '' : `?${search}`}`;
          const { status, text } = await call(who, route, path, body);
          expect(status).not.toBe(500);
          const sent = JSON.stringify([body, query]);
          const leaked = ids.filter((id) => !sent.includes(id) && text.includes(id));
          expect(leaked).toEqual([]);
        }),
        { numRuns: DRAWS, endOnFailure: true },
      );
      expect(ownersRows()).toEqual(before);
    },
  );
});

/** One body that the route takes. */
function bodyOf({ body }: WalkedRoute): object {
  if (typeof body !== 'object') return {};
  return fc.sample(drawn(body, ids), { numRuns: 1, seed: 1 })[0] ?? {};
}

function asked({ body, query }: WalkedRoute) {
  return fc.record({
    body: typeof body === 'object' ? drawn(body, ids) : fc.constant({}),
    query: (query === undefined ? fc.constant({}) : drawn(query, ids)) as fc.Arbitrary<
      Record<string, string>
    >,
  });
}
