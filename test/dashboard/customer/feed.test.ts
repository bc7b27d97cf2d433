// The live feed of an account, asked as a page asks: it follows the ledger and the limits, shows
// nothing of others, and ends with the session and with the server.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { tokenCount } from '../../../src/core/money.ts';
import type { LiveRecord } from '../../../src/dashboard/records/customer-overview.ts';
import { openSignUp, signUp } from '../../support/customer.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { closeAtEnd, type Gateway, startGateway } from '../../support/gateway.ts';
import { creditOf } from '../../support/ledger.ts';
import { type Mailbox, openMailbox } from '../../support/mailbox.ts';
import { waitUntil } from '../../support/upstream.ts';
import { type CustomerApp, openCustomerApp } from './app.ts';

const directory = temporaryDirectory();
describeOnEachDatabase("a customer's live feed", () => {
  let app: CustomerApp;
  beforeAll(async () => {
    app = await openCustomerApp(directory);
  });
  afterAll(() => app.close());

  /** Opens a feed and reads it as it comes. */
  async function watch(account: string, on = app) {
    const leave = new AbortController();
    const response = await on.open(account, 'GET', '/feed', undefined, { signal: leave.signal });
    const records: LiveRecord[] = [];
    const done = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) {
        for (const [, json = ''] of decoder.decode(chunk).matchAll(/^data: (.*)$/gm)) {
          records.push(JSON.parse(json) as LiveRecord);
        }
      }
    })();
    return { response, records, done, leave: () => leave.abort() };
  }

  test('begins with what is, and follows credit, spend and the windows', async () => {
    const account = await app.customer({ credit: 10n });
    const feed = await watch(account);
    expect(feed.response.headers.get('content-type')).toBe('text/event-stream');
    expect(feed.response.headers.get('cache-control')).toBe('no-store');
    await waitUntil(() => feed.records.length === 1);
    const { live } = (await app.get(account, '/overview')).json as { live: LiveRecord };
    expect(feed.records).toEqual([live]);

    await app.ledger.credit(creditOf('more', account, 5_000_000n));
    await waitUntil(() => feed.records.at(-1)?.balance.available === '15');
    await app.spend(account, 2_000_000n);
    await waitUntil(() => feed.records.at(-1)?.today.spent === '2');
    expect(feed.records.at(-1)).toMatchObject({ balance: { available: '13' }, open_requests: [] });

    const plan = app.dependencies.serviceState().catalog.plans.get('pro') ?? fail();
    const claim = await app.limits.claim({
      ...{ requestId: 'req_live', accountId: account, model: 'demo-chat', plan },
      ...{ startedAt: app.dependencies.clock(), incident: undefined },
      ...{ promptTokens: tokenCount(10), outputBound: tokenCount(10) },
    });
    expect(claim.kind).toBe('claimed');
    await waitUntil(() => feed.records.at(-1)?.usage.in_flight === 1);
    expect(feed.records.at(-1)?.usage.requests_this_minute).toMatchObject({ used: 1 });
    feed.leave();
    await feed.done.catch(() => undefined);
  });

  test('sends nothing while the account does not change', async () => {
    const [account, other] = [await app.customer(), await app.customer()];
    const [quiet, busy] = [await watch(account), await watch(other)];
    await app.ledger.credit(creditOf('theirs', other, 1_000_000n));
    await waitUntil(() => busy.records.at(-1)?.balance.available === '1');
    // A window that counts down is no change.
    app.advance(1_000);
    await app.ledger.credit(creditOf('theirs-too', other, 1_000_000n));
    await waitUntil(() => busy.records.at(-1)?.balance.available === '2');
    expect(quiet.records).toHaveLength(1);
    quiet.leave();
    busy.leave();
  });

  test('does not count as user activity', async () => {
    const account = await app.customer();
    const before = app.seen();
    const feed = await watch(account);
    await app.ledger.credit(creditOf('unseen', account, 1_000_000n));
    await waitUntil(() => feed.records.at(-1)?.balance.available === '1');
    expect(app.seen()).toBe(before);
    await app.get(account, '/account');
    expect(app.seen()).toBe(before + 1);
    feed.leave();
  });

  test('ends with the session, and a sixth of an account is refused', async () => {
    const account = await app.customer();
    const feeds = await Promise.all([1, 2, 3, 4, 5].map(() => watch(account)));
    const sixth = await app.get(account, '/feed');
    expect([sixth.status, sixth.json['error']]).toMatchObject([429, { code: 'too_many_feeds' }]);
    app.signOut(account);
    await Promise.all(feeds.map(({ done }) => done));
    expect((await app.get(account, '/feed')).status).toBe(401);
  });

  test('ends when the server is about to stop', async () => {
    const own = await openCustomerApp(directory);
    const feed = await watch(await own.customer(), own);
    own.drain();
    await feed.done;
    await own.close();
  });

  describe('of a running server', () => {
    let mailbox: Mailbox;
    let gateway: Gateway;
    beforeAll(async () => {
      mailbox = await openMailbox();
      gateway = await startGateway({ environment: openSignUp(mailbox) });
    });
    closeAtEnd(() => [mailbox, gateway]);

    test('disconnecting frees a slot, and sign-out ends the feed', async () => {
      const { session } = await signUp(gateway, mailbox);
      const leave = new AbortController();
      const open = () => session.open('/feed', { signal: leave.signal });
      const five = await Promise.all([1, 2, 3, 4, 5].map(open));
      expect(five.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      expect((await session.get('/feed')).status).toBe(429);
      // A response that is not used any more is collected, and its feed ends.
      expect(five.map(({ bodyUsed }) => bodyUsed)).toEqual(Array(5).fill(false));
      leave.abort();
      let feed = await session.open('/feed');
      await waitUntil(async () => {
        if (feed.status !== 200) feed = await session.open('/feed');
        return feed.status === 200;
      });
      expect((await session.send('POST', '/auth/logout')).status).toBe(204);
      expect(await feed.text()).toContain('"open_requests":[]');
    });

    test('a server that stops does not wait for it', async () => {
      const { session } = await signUp(gateway, mailbox);
      const feed = await session.open('/feed');
      const before = performance.now();
      const [text, code] = await Promise.all([feed.text(), gateway.stop()]);
      expect([text.startsWith('id: '), code]).toEqual([true, 0]);
      // It would wait for half a minute for answers of models.
      expect(performance.now() - before).toBeLessThan(10_000);
    });
  });
});

function fail(): never {
  throw new Error('the demonstration catalog has the plan');
}
