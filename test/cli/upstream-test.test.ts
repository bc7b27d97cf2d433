// `tollgate upstream test` against scripted upstreams of every dialect: what it asks, what it shows
// of each answer, and that it leaves no database behind.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Behaviour, HELLO, play, REASONING, sendWhole } from '../support/behaviours.ts';
import { catalogOf } from '../support/catalog.ts';
import { temporaryDirectory } from '../support/database.ts';
import { USAGE } from '../support/render.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { createTollgate } from './tollgate.ts';

setDefaultTimeout(60_000);

const directory = temporaryDirectory();
// The key comes from the environment, as in a server.
const tollgate = createTollgate(directory, { UPSTREAM_KEY: 'right' });

const DIALECTS = ['chat', 'messages', 'responses'] as const;
type Result = {
  readonly feature: string;
  readonly stream: boolean;
  readonly ok: boolean;
  readonly detail: string | null;
  readonly usage: readonly string[] | null;
};
type Tests = {
  readonly ok: boolean;
  readonly tests: readonly {
    readonly upstream: string;
    readonly model: string;
    readonly results: readonly Result[];
  }[];
};

/** Does what it is asked for, and thinks. */
const able: Behaviour = (exchange) => {
  const { body, text } = exchange.request;
  const calls = body['tools'] !== undefined;
  const said = text.includes('JSON') ? '{"well": true}' : HELLO;
  return play({
    pieces: calls
      ? [{ tool: 0, id: 'call_1', name: 'report', json: '{"well":true}' }]
      : [{ reasoning: REASONING }, { text: said }],
    finish: calls ? 'tool_calls' : 'stop',
    usage: USAGE,
  })(exchange);
};

/** Answers every request in prose, and streams without usage. */
const plain: Behaviour = (exchange) => {
  const { stream } = exchange.request;
  const said = { pieces: [{ text: HELLO }], finish: 'stop' } as const;
  return play(stream ? said : { ...said, usage: USAGE })(exchange);
};

const keyed: Behaviour = (exchange) =>
  exchange.request.headers['authorization'] === 'Bearer right'
    ? able(exchange)
    : sendWhole(exchange, 401, '{"error":{"message":"Wrong key."}}');

let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream({ able, plain, keyed });
  const { baseUrl, messagesBaseUrl } = upstream;
  writeFileSync(
    join(directory, 'catalog.toml'),
    catalogOf({
      upstreams: [
        ...DIALECTS.map((dialect) => ({
          id: dialect,
          dialect,
          base_url: dialect === 'messages' ? messagesBaseUrl : baseUrl,
          api_key: `\${UPSTREAM_KEY}`,
        })),
        { id: 'keys', dialect: 'chat', base_url: baseUrl, api_keys: ['wrong', 'right'] },
        { id: 'gone', dialect: 'chat', base_url: 'http://127.0.0.1:9/v1', api_key: 'x' },
      ],
      models: [
        { slug: 'good', served_by: DIALECTS.map((id) => ({ upstream: id, model: 'able' })) },
        {
          slug: 'poor',
          features: ['tools', 'json'],
          served_by: [{ upstream: 'chat', model: 'plain' }],
        },
        {
          slug: 'two-keys',
          features: ['tools'],
          served_by: [{ upstream: 'keys', model: 'keyed' }],
        },
        { slug: 'away', features: [], served_by: [{ upstream: 'gone', model: 'any' }] },
      ],
    }),
  );
});

afterAll(() => upstream.close());

async function run(...names: string[]): Promise<Tests> {
  const { exitCode, stdout, stderr } = await tollgate.run('upstream', 'test', ...names, '--json');
  if (stdout === '') throw new Error(stderr);
  const tests = JSON.parse(stdout) as Tests;
  expect(exitCode).toBe(tests.ok ? 0 : 1);
  return tests;
}

const failed = ({ tests }: Tests) =>
  tests.flatMap(({ results }) => results.filter(({ ok }) => !ok).map(({ detail }) => detail));

test.each(DIALECTS)('asks for each feature, whole and streamed (%s)', async (dialect) => {
  const before = upstream.requests.length;
  const found = await run(dialect, 'good');
  expect([found.ok, failed(found)]).toEqual([true, []]);
  const [{ upstream: id, model, results } = { upstream: '', model: '', results: [] }] = found.tests;
  expect([id, model]).toEqual([dialect, 'good']);
  expect(results.map(({ feature, stream }) => [feature, stream])).toEqual(
    ['text', 'tools', 'json', 'vision', 'reasoning'].flatMap((feature) => [
      [feature, false],
      [feature, true],
    ]),
  );
  for (const { usage } of results) expect(usage?.join()).toContain('cache');
  const asked = upstream.requests.slice(before);
  expect(asked.map(({ stream }) => stream)).toEqual(results.map(({ stream }) => stream));
  for (const { body, headers } of asked) {
    const bound = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'].map((n) => body[n]);
    expect(bound).toContain(64);
    const key = dialect === 'messages' ? headers['x-api-key'] : headers['authorization'];
    expect(key).toMatch(/right$/);
  }
});

describe('a claim that does not hold', () => {
  test('fails the test, which says what is missing and where usage is', async () => {
    const found = await run('chat', 'plain');
    expect(failed(found)).toEqual([
      ...Array(2).fill('the answer calls no tool'),
      ...Array(2).fill('the answer is not a JSON object'),
    ]);
    const { exitCode, stdout } = await tollgate.run('upstream', 'test', 'chat', 'poor');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('poor at chat, there plain\n');
    expect(stdout).toMatch(/^FAILED +1 +tools +whole .* the answer calls no tool$/m);
    expect(stdout).toMatch(/^FAILED +1 +tools +streamed +\d+ ms +\d+ ms +- /m);
    expect(stdout).toMatch(/^Usage: .*prompt_tokens/m);
  });

  test('of a key costs no more than plain requests, and the next key is asked', async () => {
    const { tests, ok } = await run('keys');
    expect(ok).toBe(false);
    expect(tests[0]?.results).toMatchObject([
      { credential: '1', feature: 'text', ok: false, detail: '401: Wrong key.' },
      { credential: '1', feature: 'text', ok: false },
      { credential: '2', feature: 'text', ok: true, detail: null },
      { credential: '2', feature: 'text', ok: true },
      { credential: '2', feature: 'tools', ok: true },
      { credential: '2', feature: 'tools', ok: true },
    ]);
  });

  test('of an upstream that is away is shown', async () => {
    const { tests } = await run('gone');
    expect(tests[0]?.results).toMatchObject([{ ok: false }, { ok: false }]);
  });
});

test('a name that the catalog lacks is asked for text alone', async () => {
  const { tests } = await run('messages', 'status-404');
  expect(tests[0]?.results).toMatchObject([
    { feature: 'text', detail: expect.stringContaining('404') },
    { feature: 'text', detail: expect.stringContaining('404') },
  ]);
});

test('without names it asks every placement, and an unknown upstream is an error', async () => {
  const { tests } = await run();
  expect(tests.map((each) => `${each.model} ${each.upstream}`)).toEqual([
    ...DIALECTS.map((dialect) => `good ${dialect}`),
    ...['poor chat', 'two-keys keys', 'away gone'],
  ]);
  expect(await tollgate.refusal('upstream', 'test', 'none')).toEqual([1, 'upstream_not_found']);
});

test('it makes no database', () => {
  expect(existsSync(join(directory, 'data'))).toBe(false);
});
