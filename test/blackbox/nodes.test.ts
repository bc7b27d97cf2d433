// `tollgate nodes`, and what `key revoke` says of the server beside it, on SQLite.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Gateway, startGateway } from '../support/gateway.ts';

setDefaultTimeout(30_000);

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

test('the one server of a file is listed, leads, and confirms the end of a key', async () => {
  const { data } = await gateway.run('nodes');
  expect(data).toEqual([
    expect.objectContaining({
      object: 'node',
      state: 'serving',
      leader: true,
      pid: gateway.pid,
      addresses: [gateway.url, gateway.operatorUrl().concat('/operator')],
      dead_at: null,
    }),
  ]);
  const [node] = data as readonly { readonly id: string; readonly host: string }[];
  const account = await gateway.createAccount();
  const { nodes } = await gateway.run('key', 'revoke', account.key);
  expect(nodes).toEqual([
    { node: node?.id, host: node?.host, confirmed_after_ms: expect.any(Number) },
  ]);
});

test('a server that was killed is not waited for', async () => {
  await gateway.kill();
  const account = await gateway.createAccount();
  expect((await gateway.run('key', 'revoke', account.key))['nodes']).toEqual([]);
});
