// The description of the API as the program serves it.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createDocument } from '../../src/openapi/document.ts';
import { held } from '../support/description.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';

const BASE_URL = 'https://api.example.com';

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway({ environment: { BASE_URL } });
});

afterAll(() => gateway[Symbol.asyncDispose]());

test('is served without a key, with the public address', async () => {
  const response = held(await fetch(`${gateway.url}/openapi.json`), 'GET');
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'application/json',
  ]);
  const served = (await response.json()) as { info: { version: string } };
  const { version } = served.info;
  const expected = JSON.parse(JSON.stringify(createDocument({ version, url: BASE_URL })));
  expect(served as unknown).toEqual(expected);
});

test('is not sent again to a client that has it', async () => {
  const first = await fetch(`${gateway.url}/openapi.json`);
  const etag = first.headers.get('etag') ?? '';
  await first.text();
  const headers = { 'if-none-match': etag };
  const again = await fetch(`${gateway.url}/openapi.json`, { headers });
  expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
});

test('each path of it refuses other methods with those that it has', async () => {
  const { paths } = createDocument({ version: '', url: BASE_URL });
  for (const [path, operations] of Object.entries(paths)) {
    if (path === '/v1/api-keys') continue;
    const url = gateway.url + path.replace('{model}', 'demo-chat');
    const { status, headers } = await fetch(url, { method: 'PUT' });
    const allow = Object.keys(operations).map((method) => method.toUpperCase());
    expect([path, status, headers.get('allow')]).toEqual([path, 405, allow.join(', ')]);
  }
});

test('the reference page is among the pages', async () => {
  const response = await fetch(`${gateway.url}/docs/api`);
  expect(response.status).toBe(200);
  const html = await response.text();
  expect(html).toContain('<h1>API reference</h1>');
  expect(html).toContain(`curl ${BASE_URL}/v1/chat/completions`);
});
