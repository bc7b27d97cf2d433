// Anthropic's models through the clouds of Amazon and Google, over the whole program: what customers
// of both formats get, what operators hear of wrong credentials, and that no secret shows anywhere.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { HELLO } from '../support/behaviours.ts';
import { catalogOf } from '../support/catalog.ts';
import { FORMATS, generate, generateStream } from '../support/client.ts';
import { type Cloud, startBedrock, startVertex, type Vertex } from '../support/clouds.ts';
import { explain } from '../support/explain.ts';
import { type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { waitUntil } from '../support/upstream.ts';

setDefaultTimeout(60_000);

const ACCOUNT = {
  region: 'us-east-1',
  accessKeyId: 'AKIACANARY00000001',
  secretAccessKey: 'canary/secret+access=key',
  sessionToken: 'canary/session=token',
};
const WRONG = 'canary-wrong-secret';

let bedrock: Cloud;
let vertex: Vertex;
let metadata: ReturnType<typeof Bun.serve>;
let gateway: Gateway;
let account: TestAccount;

function catalog(): string {
  const aws = {
    region: ACCOUNT.region,
    access_key_id: `\${AWS_ID}`,
    secret_access_key: `\${AWS_SECRET}`,
    session_token: `\${AWS_TOKEN}`,
  };
  const upstream = (id: string, profile: string, baseUrl: string, fields: object) => ({
    ...{ id, dialect: 'messages', profile, base_url: baseUrl, cool_down_seconds: 0.01 },
    ...fields,
  });
  const model = (slug: string, name: string) => ({
    slug,
    served_by: [{ upstream: slug, model: name }],
  });
  const atBedrock = 'anthropic.claude-opus-5-5-v1:0';
  const atVertex = 'claude-opus-5-5@20261001';
  return catalogOf({
    upstreams: [
      upstream('bedrock', 'bedrock', bedrock.baseUrl, { aws }),
      upstream('bedrock-wrong', 'bedrock', bedrock.baseUrl, {
        aws: { ...aws, secret_access_key: WRONG },
      }),
      upstream('vertex', 'vertex', vertex.baseUrl, { google: { credentials_file: 'a.json' } }),
      upstream('vertex-wrong', 'vertex', vertex.baseUrl, {
        google: { credentials_file: 'no.json' },
      }),
      upstream('vertex-machine', 'vertex', vertex.baseUrl, { google: {} }),
    ],
    models: [
      model('bedrock', atBedrock),
      model('bedrock-wrong', atBedrock),
      model('vertex', atVertex),
      model('vertex-wrong', atVertex),
      model('vertex-machine', atVertex),
    ],
  });
}

beforeAll(async () => {
  bedrock = await startBedrock(ACCOUNT);
  vertex = await startVertex();
  // Google's library asks it what the account of the machine may do.
  metadata = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const headers = { 'metadata-flavor': 'Google' };
      if (!new URL(request.url).pathname.endsWith('/token')) return new Response('', { headers });
      const token = vertex.issueNow();
      return Response.json({ access_token: token, expires_in: 3_600 }, { headers });
    },
  });
  gateway = await startGateway({
    catalog: catalog(),
    environment: {
      LOG_LEVEL: 'debug',
      AWS_ID: ACCOUNT.accessKeyId,
      AWS_SECRET: ACCOUNT.secretAccessKey,
      AWS_TOKEN: ACCOUNT.sessionToken,
      GCE_METADATA_HOST: `127.0.0.1:${metadata.port}`,
    },
  });
  await Bun.write(join(gateway.directory, 'a.json'), JSON.stringify(vertex.account));
  account = await gateway.createAccount({ plan: 'business' });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await Promise.all([bedrock.close(), vertex.close(), metadata.stop(true)]);
});

describe.each(['bedrock', 'vertex', 'vertex-machine'])('a model at %s', (model) => {
  test.each(FORMATS)('answers customers of %s, streamed and whole', async (format) => {
    const whole = await generate(account, format, model);
    expect(whole.status).toBe(200);
    expect(JSON.stringify(whole.json)).toContain(HELLO);
    const stream = await generateStream(account, format, model);
    expect(stream.status).toBe(200);
    expect(JSON.stringify(stream.events)).toContain('Hello');
    expect(await explain(gateway, whole.headers.get('x-request-id'))).toMatchObject({
      usage: { basis: 'reported', input_tokens: 10, output_tokens: 5 },
    });
  });
});

test('nothing was refused by the clouds', () => {
  const asked = [...bedrock.requests, ...vertex.requests].map(({ reason }) => reason);
  expect(asked.length).toBeGreaterThanOrEqual(12);
  expect(asked.filter((reason) => reason !== '')).toEqual([]);
});

test.each([
  ['bedrock-wrong', 'upstream bedrock-wrong refuses our credential 1 or its account (status 403)'],
  [
    'vertex-wrong',
    'upstream vertex-wrong cannot be used with credential 1: no token from Google: its credentials_file cannot be read',
  ],
])('%s is 503 for the customer, and an alert for the operator', async (model, words) => {
  for (const format of FORMATS) {
    const answer = await generate(account, format, model);
    expect(answer.status).toBe(503);
    expect(JSON.stringify(answer.json)).toContain('provider_unavailable');
    // Its request id is random, and may have any digits.
    const said = JSON.stringify(answer.json).replace(/req_[0-9a-f]+/g, '');
    expect(said).not.toMatch(/google|aws|credential|40[13]/i);
  }
  await waitUntil(() => gateway.output().includes(words));
});

test('a file that is put right is used once the operator resets the upstream', async () => {
  const path = join(gateway.directory, 'no.json');
  await Bun.write(path, JSON.stringify(vertex.user));
  await gateway.run('upstream', 'reset', 'vertex-wrong');
  await waitUntil(async () => (await generate(account, 'chat', 'vertex-wrong')).status === 200);
  await rm(path);
});

test('the doctor counts a signature and a token as credentials', async () => {
  const { checks } = await gateway.run('doctor');
  expect(JSON.stringify(checks)).toContain('upstream secrets');
  expect(JSON.stringify(checks)).not.toContain('none for');
});

test('no secret is printed', async () => {
  const seen = [
    gateway.output(),
    JSON.stringify(await gateway.run('upstream', 'list')),
    JSON.stringify(await gateway.run('catalog', 'status')),
    JSON.stringify(await gateway.run('doctor')),
  ].join();
  const secrets = [...Object.values(ACCOUNT).slice(1), WRONG, ...vertex.tokens];
  expect(secrets.filter((secret) => seen.includes(secret))).toEqual([]);
  expect(seen).not.toContain('PRIVATE KEY');
});
