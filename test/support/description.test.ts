// A difference between an answer and the description of the API fails the test that reads it.

import { afterAll, describe, expect, test } from 'bun:test';
import { held } from './description.ts';
import { collectEvents } from './sse.ts';

type Scripted = { readonly body: string; readonly init: ResponseInit };

let next: Scripted = { body: '', init: {} };
const server = Bun.serve({ port: 0, fetch: () => new Response(next.body, next.init) });
afterAll(() => server.stop(true));

async function answered(path: string, scripted: Scripted, method = 'GET'): Promise<Response> {
  next = scripted;
  return held(await fetch(new URL(path, server.url), { method }), method);
}

const ID = { 'x-request-id': 'req_1', 'request-id': 'req_1' };
const JSON_TYPE = { 'content-type': 'application/json' };
const LIMITS = {
  'x-ratelimit-limit-requests': '60',
  'x-ratelimit-remaining-requests': '59',
  'x-ratelimit-limit-tokens': '1000',
  'x-ratelimit-remaining-tokens': '999',
  'x-ratelimit-reset-requests': '60s',
};

function refusal(status: number, code: string, more: object = {}, headers: object = {}): Scripted {
  const error = {
    message: 'No.',
    type: 'authentication_error',
    code,
    request_id: 'req_1',
    ...more,
  };
  const init = { status, headers: { ...ID, ...JSON_TYPE, ...headers } };
  return { body: JSON.stringify({ error }), init };
}

test('an answer as it is described is read as it is', async () => {
  const response = await answered('/v1/account', refusal(401, 'invalid_api_key'));
  expect(await response.json()).toMatchObject({ error: { code: 'invalid_api_key' } });
});

describe('refuses', () => {
  test('a status that the route does not have', async () => {
    await expect(answered('/v1/account', refusal(418, 'invalid_api_key'))).rejects.toThrow('418');
  });

  test('a header that is missing, wrong, or not described', async () => {
    const path = '/v1/chat/completions';
    const limited = refusal(429, 'rate_limit_exceeded');
    await expect(answered(path, limited, 'POST')).rejects.toThrow('lacks the header retry-after');
    const wrong = refusal(429, 'rate_limit_exceeded', {}, { 'retry-after': 'soon' });
    await expect(answered(path, wrong, 'POST')).rejects.toThrow('retry-after: soon');
    const more = refusal(401, 'invalid_api_key', {}, { 'x-more': '1' });
    await expect(answered('/v1/account', more)).rejects.toThrow('x-more');
  });

  test('a code of another status, and a member that is not described', async () => {
    const code = await answered('/v1/account', refusal(401, 'model_not_found'));
    await expect(code.json()).rejects.toThrow('differs');
    const member = await answered('/v1/account', refusal(401, 'invalid_api_key', { more: 1 }));
    await expect(member.text()).rejects.toThrow('differs');
  });

  test('an event that the stream does not have', async () => {
    const headers = { ...ID, ...LIMITS, 'content-type': 'text/event-stream' };
    const ping = 'event: ping\ndata: {"type":"ping"}\n\n';
    const body = `${ping}event: pong\ndata: {"type":"pong"}\n\n`;
    const good = await answered('/v1/messages', { body: ping, init: { headers } }, 'POST');
    expect(await collectEvents(good)).toHaveLength(1);
    const bad = await answered('/v1/messages', { body, init: { headers } }, 'POST');
    await expect(collectEvents(bad)).rejects.toThrow('pong');
  });
});
