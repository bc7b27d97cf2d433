// Authentication at clouds over real sockets, with both transports: AWS signatures are verified by
// a stand-in of Bedrock, tokens are issued by a stand-in of Google.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUILT_IN_PROFILES } from '../../src/core/built-in-profiles.ts';
import { isFailure } from '../../src/core/failure.ts';
import type { UpstreamAuth } from '../../src/core/model.ts';
import type { UpstreamClient, UpstreamRequest } from '../../src/upstream/transport.ts';
import { type AwsAccount, startBedrock, startVertex, type Vertex } from '../support/clouds.ts';
import { chatUpstream } from '../support/model.ts';
import { createTestClient } from '../support/upstream-client.ts';

setDefaultTimeout(30_000);

const TRANSPORTS = ['sockets', 'fetch'] as const;
type Transport = (typeof TRANSPORTS)[number];

/** A new object each time, as in each state of a catalog. */
function upstreamOf(baseUrl: string, auth: UpstreamAuth, transport: Transport) {
  const { dialect: _, profile: __, ...base } = chatUpstream('cloud');
  const profile = BUILT_IN_PROFILES.get('bedrock');
  if (profile?.dialect !== 'messages') throw new Error('no profile');
  return { ...base, dialect: 'messages' as const, profile, baseUrl, auth, transport };
}

const HEADERS = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };

/** What a call without a mistake has; `upstream` is set by each test. */
const CALL = {
  path: '/v1/messages',
  headers: HEADERS,
  body: JSON.stringify({ model: 'anthropic.claude-opus-5-5', messages: [] }),
  connectMs: 5_000,
};

async function send(
  client: UpstreamClient,
  call: Omit<UpstreamRequest, 'signal'> & { readonly signal?: AbortSignal },
) {
  const answer = await client.send({ signal: new AbortController().signal, ...call });
  if (isFailure(answer)) return answer;
  await answer.text();
  return answer.status;
}

describe.each(TRANSPORTS)('an AWS signature, %s', (transport) => {
  const account: AwsAccount = {
    region: 'eu-west-1',
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  };
  const temporary = { ...account, sessionToken: 'session/token+of==one' };
  const nowMs = Date.UTC(2026, 10, 28, 23, 59, 59);

  test.each([
    ['for a key', account, undefined],
    ['with a session token', temporary, undefined],
    ['with text outside of ASCII, and half a surrogate pair', account, 'Grüße, 你好 🙂 \ud83d'],
    ['of a large body', account, 'x'.repeat(1_900_000)],
  ])('is accepted %s', async (_, each, text) => {
    const bedrock = await startBedrock(each, () => nowMs);
    const client = createTestClient({ clock: () => nowMs });
    const upstream = upstreamOf(bedrock.baseUrl, { kind: 'aws', ...each }, transport);
    const body = `{"model":"m","system":${text === undefined ? '""' : `"${text}"`},"messages":[]}`;
    expect(await send(client, { ...CALL, upstream, body })).toBe(200);
    expect(bedrock.requests[0]?.body.toString()).toBe(Buffer.from(body).toString());
    client.close();
    await bedrock.close();
  });

  test('is made for each request and follows the clock into the next day', async () => {
    let clockMs = nowMs;
    const bedrock = await startBedrock(account, () => clockMs);
    const client = createTestClient({ clock: () => clockMs });
    const upstream = upstreamOf(bedrock.baseUrl, { kind: 'aws', ...account }, transport);
    expect(await send(client, { ...CALL, upstream })).toBe(200);
    clockMs += 2_000;
    expect(await send(client, { ...CALL, upstream, body: '{"model":"other"}' })).toBe(200);
    clockMs += 86_400_000;
    expect(await send(client, { ...CALL, upstream })).toBe(200);
    const dates = bedrock.requests.map(({ headers }) => headers['x-amz-date']?.slice(0, 8));
    expect(dates).toEqual(['20261128', '20261129', '20261130']);
    client.close();
    await bedrock.close();
  });

  test.each([
    ['a wrong secret', { secretAccessKey: 'wrong' }, 0, 'SignatureDoesNotMatch'],
    ['a wrong key id', { accessKeyId: 'AKIDOTHER' }, 0, 'UnrecognizedClientException'],
    ['another region', { region: 'us-east-1' }, 0, 'scope us-east-1/bedrock'],
    ['a session token too many', { sessionToken: 'x' }, 0, 'ExpiredTokenException'],
    ['a clock that is ten minutes off', {}, 600_000, 'Signature expired'],
  ])('is refused with %s', async (_, change, lateMs, reason) => {
    const bedrock = await startBedrock(account, () => nowMs);
    const client = createTestClient({ clock: () => nowMs - lateMs });
    const auth = { kind: 'aws', ...account, ...change } as const;
    const upstream = upstreamOf(bedrock.baseUrl, auth, transport);
    expect(await send(client, { ...CALL, upstream })).toBe(403);
    expect(bedrock.requests.map((request) => request.reason)).toEqual([reason]);
    client.close();
    await bedrock.close();
  });
});

test('the signature for the second endpoint of Bedrock has its own service name', async () => {
  const heads: Headers[] = [];
  const client = createTestClient({
    fetch: async (_url, init) => {
      heads.push(new Headers(init.headers));
      return new Response('{}');
    },
    lookup: async () => ['192.0.2.1'],
  });
  const auth = { kind: 'aws', region: 'r', accessKeyId: 'a', secretAccessKey: 's' } as const;
  for (const host of ['bedrock-mantle.r.api.aws', 'bedrock-runtime.r.amazonaws.com']) {
    const upstream = upstreamOf(`https://${host}/anthropic`, auth, 'fetch');
    await send(client, { ...CALL, upstream });
  }
  const scopes = heads.map(
    (head) => /Credential=(\S+),/.exec(head.get('authorization') ?? '')?.[1],
  );
  expect(scopes.map((scope) => scope?.split('/').slice(2))).toEqual([
    ['r', 'bedrock-mantle', 'aws4_request'],
    ['r', 'bedrock', 'aws4_request'],
  ]);
  client.close();
});

describe.each(TRANSPORTS)('a token from Google, %s', (transport) => {
  let folder: string;
  let file: string;
  let vertex: Vertex;
  let client: ReturnType<typeof createTestClient>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-google-'));
    file = join(folder, 'account.json');
  });

  afterAll(() => rm(folder, { recursive: true }));

  async function open(): Promise<(signal?: AbortSignal) => ReturnType<typeof send>> {
    vertex = await startVertex();
    client = createTestClient();
    await Bun.write(file, JSON.stringify(vertex.account));
    const auth = { kind: 'google', credentialsFile: file } as const;
    const upstream = upstreamOf(vertex.baseUrl, auth, transport);
    const call = {
      ...{ ...CALL, upstream },
      path: '/claude-opus-5-5@20261001:rawPredict',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ anthropic_version: 'vertex-2023-10-16', messages: [] }),
    };
    return (signal) => send(client, { ...call, ...(signal !== undefined && { signal }) });
  }

  async function close(): Promise<void> {
    client.close();
    await vertex.close();
  }

  test('is fetched once for many requests at a time, and kept', async () => {
    const ask = await open();
    expect(await Promise.all(Array.from({ length: 20 }, () => ask()))).toEqual(
      Array.from({ length: 20 }, () => 200),
    );
    expect(await ask()).toBe(200);
    expect(vertex.tokens).toHaveLength(1);
    await close();
  });

  test('is issued for an authorized user as well', async () => {
    const ask = await open();
    await Bun.write(file, JSON.stringify(vertex.user));
    expect(await ask()).toBe(200);
    await close();
  });

  test('is renewed before it expires', async () => {
    const ask = await open();
    // Less than the five minutes ahead of the end in which the library asks for the next one.
    vertex.issue = { status: 200, seconds: 200 };
    expect([await ask(), await ask()]).toEqual([200, 200]);
    expect(vertex.tokens).toHaveLength(2);
    await close();
  });

  test.each([
    ['is refused', { status: 400, error: 'invalid_grant' }, 'status 400 invalid_grant'],
    ['is refused in words', { status: 401, error: 'secret words' }, 'status 401'],
    ['endpoint fails', { status: 500, error: 'x' }, 'status 500'],
  ])(
    'that %s is a failure of the credential, and the next request tries again',
    async (_, issue, words) => {
      const ask = await open();
      vertex.issue = { ...issue, seconds: 0 };
      expect(await ask()).toEqual({
        class: 'credential',
        phase: 'connect',
        detail: `no token from Google: the token endpoint answered with ${words}`,
      });
      expect(vertex.requests).toEqual([]);
      vertex.issue = { status: 200, seconds: 3_600 };
      expect(await ask()).toBe(200);
      await close();
    },
  );

  test.each([
    ['no file', undefined, 'its credentials_file cannot be read'],
    ['no JSON', '{"type":', 'its credentials_file is not the key of a service account or of'],
    ['a program to run', '{"type":"external_account"}', 'its credentials_file is not the key of'],
    [
      'a key that is none',
      '{"type":"service_account","client_email":"a@b","private_key":"x"}',
      'the token endpoint cannot be reached, or the credentials cannot sign',
    ],
  ])('is missing where the file has %s, until the file is replaced', async (_, text, words) => {
    const ask = await open();
    if (text === undefined) await rm(file);
    else await Bun.write(file, text);
    const failure = await ask();
    expect(failure).toMatchObject({ class: 'credential', phase: 'connect' });
    expect(JSON.stringify(failure)).toContain(`no token from Google: ${words}`);
    await Bun.write(file, JSON.stringify(vertex.account));
    expect(await ask()).toBe(200);
    await close();
  });

  test('does not keep a request that is aborted', async () => {
    const ask = await open();
    vertex.issue = { status: 200, seconds: 3_600, hang: true };
    const controller = new AbortController();
    const asked = ask(controller.signal);
    await Bun.sleep(20);
    controller.abort();
    expect(await asked).toMatchObject({ class: 'cut', phase: 'connect' });
    await close();
  });
});
