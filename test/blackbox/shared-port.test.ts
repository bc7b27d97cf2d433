// Two nodes of one machine on one port: both serve, and a node that is not configured to share it
// reports that.

import { expect, setDefaultTimeout, test } from 'bun:test';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { PATHS, post, requestBody } from '../support/client.ts';
import { type Gateway, runCommand, startGateway } from '../support/gateway.ts';
import { newPostgresUrl } from '../support/postgres-database.ts';
import { describeWithServices } from '../support/services.ts';
import { startUpstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(60_000);

/** Each is a connection; all of them reach one node once in a million times. */
const REQUESTS = 20;

const servedBy = ({ output }: Gateway): number => output().split('"msg":"request"').length - 1;

describeWithServices('nodes of one machine', ['PostgreSQL'], () => {
  test('serve on one port with REUSE_PORT=on, and a node without it says that the port is in use', async () => {
    await using stack = new AsyncDisposableStack();
    const upstream = await startUpstream();
    stack.defer(upstream.close);
    const catalog = catalogFor(upstream, ['ok'], { plans: { large: LARGE_PLAN } });
    const shared = { DATABASE_URL: await newPostgresUrl(), OPERATOR_PORT: 'off', REUSE_PORT: 'on' };
    const one = stack.use(await startGateway({ catalog, environment: shared }));
    const environment = { ...shared, PORT: new URL(one.url).port };
    const two = stack.use(await startGateway({ catalog, environment }));
    expect(two.url).toBe(one.url);

    const account = await one.createAccount({ plan: 'large' });
    const ask = async (): Promise<number> => {
      const headers = { connection: 'close' };
      const response = await post(account, PATHS.chat, requestBody('chat', 'ok'), { headers });
      await response.arrayBuffer();
      return response.status;
    };
    const statuses = await Promise.all(Array.from({ length: REQUESTS }, ask));
    expect(new Set(statuses)).toEqual(new Set([200]));
    await waitUntil(() => servedBy(one) + servedBy(two) === REQUESTS);
    expect([servedBy(one), servedBy(two)]).not.toContain(0);

    const alone = { PATH: process.env['PATH'] ?? '', ...environment, REUSE_PORT: 'off' };
    const { code, stderr } = await runCommand(one.directory, alone, ['serve']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('is in use')]);
    expect(stderr).toContain('set REUSE_PORT=on in all nodes that share it');
    expect(await ask()).toBe(200);
  });
});
