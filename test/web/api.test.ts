// How the pages call the server: JSON in both directions, refusals as errors that can be shown, one
// password prompt for any number of calls, and the redirect to sign-in.

import '../support/english.ts';
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { resolve } from 'node:path';

/** Of a file that is written for browsers, so that it is no part of this program. */
type Api = {
  readonly get: (path: string, options?: { signal?: AbortSignal }) => Promise<unknown>;
  readonly post: (path: string, body?: object) => Promise<unknown>;
  readonly withQuery: (path: string, query: object) => string;
  readonly declareSignedOut: (paths: readonly string[]) => void;
  readonly stepUp: { readonly value: { readonly done: (proven: boolean) => void } | undefined };
};

type Asked = { readonly method: string; readonly path: string; readonly body: string };

let asked: Asked[] = [];
let answers: Response[] = [];
const visited: string[] = [];

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    asked.push({ method: request.method, path: pathname + search, body: await request.text() });
    return answers.shift() ?? Response.json({ object: 'nothing' });
  },
});
const prefix = `${server.url.origin}/dashboard`;
const location = {
  pathname: '/dashboard/usage',
  search: '?model=a',
  replace: (address: string) => visited.push(address),
};
Object.assign(globalThis, { APP_PREFIX: prefix, window: { location } });
const api = (await import(resolve(import.meta.dir, '../../src/web/ui/api.ts'))) as Api;

/** How many answers the page has read to their end. */
let read = 0;
const fetchPlainly = globalThis.fetch;
Object.assign(globalThis, {
  async fetch(...args: Parameters<typeof fetch>) {
    const response = await fetchPlainly(...args);
    const json = response.json.bind(response);
    return Object.assign(response, {
      json: () =>
        json().finally(() => {
          read += 1;
        }),
    });
  },
});

beforeEach(() => {
  asked = [];
  read = 0;
  answers = [];
  visited.length = 0;
});

afterAll(async () => {
  Object.assign(globalThis, { fetch: fetchPlainly });
  await server.stop(true);
  Reflect.deleteProperty(globalThis, 'window');
  Reflect.deleteProperty(globalThis, 'APP_PREFIX');
});

function refusal(status: number, code: string, more: object = {}): Response {
  const error = { code, message: `About ${code}.`, request_id: 'req_1', ...more };
  return Response.json({ error }, { status });
}

/** What a call rejects with. */
function errorOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('a call', () => {
  test('sends and reads JSON', async () => {
    answers = [Response.json({ id: 'key_1' }), new Response(null, { status: 204 })];
    expect(await api.post('/keys', { name: 'ci' })).toEqual({ id: 'key_1' });
    expect(await api.get('/keys')).toBeUndefined();
    expect(asked).toEqual([
      { method: 'POST', path: '/dashboard/api/keys', body: '{"name":"ci"}' },
      { method: 'GET', path: '/dashboard/api/keys', body: '' },
    ]);
  });

  test('leaves members of a query out that have no value', () => {
    expect(api.withQuery('/a', { model: 'x/y', after: undefined, key: '', limit: 5 })).toBe(
      '/a?model=x%2Fy&limit=5',
    );
    expect(api.withQuery('/a', {})).toBe('/a');
  });

  test('rejects with what the server said', async () => {
    answers = [refusal(409, 'key_limit_reached', { param: 'name' })];
    expect(await errorOf(api.post('/keys'))).toMatchObject({
      status: 409,
      code: 'key_limit_reached',
      message: 'About key_limit_reached.',
      param: 'name',
      requestId: 'req_1',
    });
  });

  test('has words for an answer that is none of ours', async () => {
    answers = [new Response('<h1>Bad gateway</h1>', { status: 502 })];
    expect(await errorOf(api.get('/keys'))).toMatchObject({
      status: 502,
      code: 'unknown',
      message: 'The server returned status 502. Try again in a minute.',
    });
  });

  test('that was given up is no failure of the server', async () => {
    const abort = new AbortController();
    abort.abort();
    expect(await errorOf(api.get('/keys', { signal: abort.signal }))).toMatchObject({
      name: 'AbortError',
    });
  });
});

describe('the password', () => {
  test('is asked once for all calls that wait for it, which are then made again', async () => {
    answers = [refusal(403, 'step_up_required'), refusal(403, 'step_up_required')];
    const calls = Promise.all([api.post('/keys/1/revoke'), api.post('/keys/2/revoke')]);
    while (read < 2) await Bun.sleep(1);
    api.stepUp.value?.done(true);
    await calls;
    expect(asked.map(({ path }) => path).sort()).toEqual([
      '/dashboard/api/keys/1/revoke',
      '/dashboard/api/keys/1/revoke',
      '/dashboard/api/keys/2/revoke',
      '/dashboard/api/keys/2/revoke',
    ]);
    expect(api.stepUp.value).toBeUndefined();
  });

  test('that is not given leaves the refusal', async () => {
    answers = [refusal(403, 'step_up_required')];
    const error = errorOf(api.post('/keys/1/revoke'));
    while (api.stepUp.value === undefined) await Bun.sleep(1);
    api.stepUp.value.done(false);
    expect(await error).toMatchObject({ code: 'step_up_required' });
    expect(asked).toHaveLength(1);
  });
});

describe('a missing session', () => {
  test('leads to the sign-in page, and from there back', async () => {
    answers = [refusal(401, 'not_signed_in'), refusal(401, 'not_signed_in')];
    await errorOf(api.get('/usage'));
    expect(visited).toEqual([
      `${prefix}/sign-in?next=%2Fdashboard%2Fusage%3Fmodel%3Da&reason=expired`,
    ]);
  });

  test('is retried once: the cookie may have been renewed since', async () => {
    answers = [refusal(401, 'not_signed_in')];
    expect(await api.get('/usage')).toEqual({ object: 'nothing' });
    expect([asked.length, visited]).toEqual([2, []]);
  });

  test('is an ordinary error on sign-in pages, and so is a wrong password', async () => {
    answers = [refusal(401, 'invalid_credentials')];
    await errorOf(api.post('/auth/login'));
    expect(asked).toHaveLength(1);
    answers = [refusal(401, 'not_signed_in'), refusal(401, 'not_signed_in')];
    api.declareSignedOut(['/sign-in']);
    location.pathname = `${prefix}/sign-in`;
    await errorOf(api.post('/auth/login'));
    expect(visited).toEqual([]);
  });
});
