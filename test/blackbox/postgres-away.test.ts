// A server loses its PostgreSQL and gets it back: no new request starts, answers that have begun
// continue, and no bill is reported before it is booked.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Behaviour, play, streamHead } from '../support/behaviours.ts';
import { catalogFor } from '../support/catalog.ts';
import { generate, openStream } from '../support/client.ts';
import { explain } from '../support/explain.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { streamFrames } from '../support/render.ts';
import { describeWithServices, type PostgresServer, startPostgres } from '../support/services.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(60_000);

/** A server with a local ledger reports what it will book after five seconds. */
const LONGER_THAN_ALONE_MS = 6_000;

describeWithServices('a server without its PostgreSQL', ['PostgreSQL'], () => {
  const gone = Promise.withResolvers<void>();
  let postgres: PostgresServer;
  let upstream: Upstream;
  let gateway: Gateway;

  beforeAll(async () => {
    postgres = await startPostgres();
    const pieces = [{ text: 'It has begun. ' }, { text: 'All the same' }];
    const begins: Behaviour = async (exchange) => {
      const { dialect, model } = exchange.request;
      streamHead(exchange);
      for (const frame of streamFrames(dialect, model, { pieces, finish: 'stop' })) {
        if (frame.includes('All the same')) await gone.promise;
        exchange.write(frame);
      }
      exchange.end();
    };
    upstream = await startUpstream({
      begins,
      async 'has-said-nothing'(exchange) {
        await gone.promise;
        await play({ pieces, finish: 'stop' })(exchange);
      },
    });
    gateway = await startGateway({
      catalog: catalogFor(upstream, ['ok', 'begins', 'has-said-nothing']),
      environment: { DATABASE_URL: await postgres.createDatabase() },
    });
  });

  closeAtEnd(() => [postgres, upstream, gateway]);

  /** Reads a stream as it arrives. */
  async function follow(account: TestAccount, model: string) {
    const response = await openStream(account, 'chat', model);
    const read = { text: '' };
    const done = (async () => {
      for await (const bytes of response.body ?? []) read.text += new TextDecoder().decode(bytes);
    })();
    return { response, read, done };
  }

  test('refuses new requests, continues what has begun, and reports the bill once it is booked', async () => {
    const account = await gateway.createAccount();
    const begun = await follow(account, 'begins');
    await waitUntil(() => begun.read.text.includes('It has begun'));
    const silent = await follow(account, 'has-said-nothing');
    await upstream.waitFor(({ active }) => active() === 2);
    await postgres.shutDown('immediate');
    expect((await generate(account, 'chat', 'ok')).status).toBe(503);
    gone.resolve();
    await waitUntil(() => begun.read.text.includes('All the same'));
    await Bun.sleep(LONGER_THAN_ALONE_MS);
    expect(begun.read.text).not.toContain('svc_tokens_debited');
    await postgres.start();
    await begun.done;
    // Another node could have ended its hold: what it said would have been free.
    await silent.done;
    expect(silent.read.text).toContain('provider_unavailable');
    expect(silent.read.text).not.toContain('It has begun');
    const billed = /"svc_tokens_debited":"?([\d.]+)/.exec(begun.read.text)?.[1];
    const { booked } = await explain(gateway, begun.response.headers.get('x-request-id'));
    expect(booked).toMatchObject({ debited: billed ?? 'no bill was sent' });
    await waitUntil(async () => (await generate(account, 'chat', 'ok')).status === 200, 15_000);
    const unpaid = await explain(gateway, silent.response.headers.get('x-request-id'));
    expect(unpaid.booked).toMatchObject({ debited: '0' });
  });
});
