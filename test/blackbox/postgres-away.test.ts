// A server loses its PostgreSQL and gets it back: no new request starts, running ones continue, and
// no bill is reported before it is booked.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { play } from '../support/behaviours.ts';
import { catalogFor } from '../support/catalog.ts';
import { generate, openStream } from '../support/client.ts';
import { explain } from '../support/explain.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
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
    upstream = await startUpstream({
      async 'waits-until-it-is-gone'(exchange) {
        await gone.promise;
        await play({ pieces: [{ text: 'All the same' }], finish: 'stop' })(exchange);
      },
    });
    gateway = await startGateway({
      catalog: catalogFor(upstream, ['ok', 'waits-until-it-is-gone']),
      environment: { DATABASE_URL: await postgres.createDatabase() },
    });
  });

  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await upstream.close();
    await postgres.stop();
  });

  test('refuses new requests, continues running ones, and reports the bill once it is booked', async () => {
    const account = await gateway.createAccount();
    const response = await openStream(account, 'chat', 'waits-until-it-is-gone');
    let text = '';
    const reading = (async () => {
      for await (const bytes of response.body ?? []) text += new TextDecoder().decode(bytes);
    })();
    await upstream.waitFor(({ active }) => active() === 1);
    await postgres.shutDown('immediate');
    expect((await generate(account, 'chat', 'ok')).status).toBe(503);
    gone.resolve();
    await waitUntil(() => text.includes('All the same'));
    await Bun.sleep(LONGER_THAN_ALONE_MS);
    expect(text).not.toContain('svc_tokens_debited');
    await postgres.start();
    await reading;
    const billed = /"svc_tokens_debited":"?([\d.]+)/.exec(text)?.[1];
    const { booked } = await explain(gateway, response.headers.get('x-request-id'));
    expect(booked).toMatchObject({ debited: billed ?? 'no bill was sent' });
    await waitUntil(async () => (await generate(account, 'chat', 'ok')).status === 200, 15_000);
  });
});
