// A client that keeps its connection after an answer and sends nothing more: the server closes it after
// its idle timeout of a minute, after an answer of any kind. Otherwise each answer could keep a file
// descriptor for as long as its client lives.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { PATHS, requestBody } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { openConnection, requestHead } from '../support/raw.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(200_000);

let upstream: Upstream;
let gateway: Gateway;
let rich: TestAccount;
let poor: TestAccount;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    catalog: catalogFor(upstream, ['ok', 'slow-tokens-3-50'], { plans: { large: LARGE_PLAN } }),
  });
  rich = await gateway.createAccount({ plan: 'large', credit: 100_000_000 });
  poor = await gateway.createAccount({ plan: 'large', credit: '0.000001' });
});

closeAtEnd(() => [upstream, gateway]);

test('an idle connection ends after an answer of any kind', async () => {
  const ask = async (
    caller: TestAccount,
    stream: boolean,
    more: readonly string[] = [],
    model = 'ok',
  ) => {
    const body = JSON.stringify({ ...requestBody('chat', model), stream });
    const connection = await openConnection(gateway.url);
    const length = `content-length: ${Buffer.byteLength(body)}`;
    await connection.write(requestHead(caller, PATHS.chat, [length, ...more]) + body);
    await waitUntil(() => connection.rest().includes('HTTP/1.1 '));
    return connection;
  };
  const key = ['idempotency-key: idle'];
  const streamKey = ['idempotency-key: idle-stream'];
  const recorded = async () => {
    const first = await ask(rich, true, streamKey, 'slow-tokens-3-50');
    await waitUntil(() => first.rest().endsWith('\r\n0\r\n\r\n'));
    return first;
  };
  const connections = [
    await ask(rich, false, key),
    await ask(rich, false, key),
    await ask(rich, false),
    await ask(rich, true),
    await recorded(),
    await ask(rich, true, streamKey, 'slow-tokens-3-50'),
    await ask(poor, false),
  ];
  const statuses = connections.map((each) => /HTTP\/1.1 (\d+)/.exec(each.rest())?.[1]);
  expect(statuses).toEqual(['200', '200', '200', '200', '200', '200', '402']);
  await waitUntil(() => connections.every((each) => each.closed()), 150_000);
});
