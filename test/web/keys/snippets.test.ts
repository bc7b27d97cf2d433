// What the key page offers works unchanged: shell and JavaScript are run against a
// server, settings are read as their agents read them.

import { beforeAll, describe, expect, test } from 'bun:test';
import { resolve } from 'node:path';
import {
  type Place,
  type Snippet,
  snippetGroups,
} from '../../../src/web/customer/keys/snippets.ts';
import { catalogFor } from '../../support/catalog.ts';
import { closeAtEnd, type Gateway, startGateway } from '../../support/gateway.ts';
import { runProgram } from '../../support/program.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';

const root = resolve(import.meta.dir, '../../..');

/** A name that would break a file if it were not quoted. */
const AT = {
  baseUrl: 'https://gate.example',
  model: 'swift-1',
  apiKey: 'sk-key',
  reasoning: false,
  responses: true,
  name: 'Acme: "AI" #1',
};

let upstream: Upstream;
let gateway: Gateway;
let place: Place;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({ catalog: catalogFor(upstream, ['ok']) });
  const { key } = await gateway.createAccount();
  place = {
    baseUrl: gateway.url,
    model: 'ok',
    apiKey: key,
    reasoning: false,
    responses: true,
    name: 'Acme',
  };
});
closeAtEnd(() => [upstream, gateway]);

function snippetsOf(id: string, at: Place = place): readonly Snippet[] {
  return snippetGroups(at).find((group) => group.id === id)?.snippets ?? [];
}

/** Runs a command where the packages of this repository are found, and returns what it printed. */
async function output(command: string[], environment: Record<string, string> = {}) {
  const { code, stdout, stderr } = await runProgram(command, {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', ...environment },
  });
  return code === 0 ? stdout : stderr;
}

describe.each(['chat', 'messages', 'responses'] as const)('in the %s format', (format) => {
  const of = (id: string) => snippetsOf(id).find((snippet) => snippet.format === format);

  test('curl is answered', async () => {
    const said = await output(['sh', '-c', of('curl')?.code ?? '']);
    expect(said).toContain('Hello from upstream.');
    expect(said).toContain('svc_tokens_debited');
  });

  test('JavaScript prints the answer', async () => {
    const code = of('javascript')?.code ?? '';
    expect(code).toContain(`export API_KEY='${place.apiKey}'`);
    const said = await output([process.execPath, '-e', code], { API_KEY: place.apiKey });
    expect(said).toBe('Hello from upstream.\n');
  });
});

test('every agent gets the base URL of its format, the key and the model', () => {
  const at = AT;
  // Agents of the AI SDK and Continue want /v1 in the Messages format, too.
  const wantV1 = new Set(['opencode', 'continue']);
  for (const { id, snippets } of snippetGroups(at)) {
    for (const { format, code } of snippets) {
      const address = format !== 'messages' || wantV1.has(id) || id === 'curl' ? '/v1' : '';
      const urls = [...code.matchAll(/https:\/\/gate\.example[\w/]*/g)].map(([url]) => url);
      expect({
        id,
        format,
        urls: urls.every((url) => url.includes('/v1') === (address !== '')),
      }).toEqual({ id, format, urls: true });
      expect({ id, urls: urls.length > 0, key: code.includes('sk-key') }).toEqual({
        id,
        urls: true,
        key: true,
      });
      expect(code).toContain('swift-1');
    }
  }
});

test.each([true, false])('agents get whether the model reasons: %p', (reasoning) => {
  const at = { ...AT, reasoning };
  const settings = [...snippetsOf('opencode', at), ...snippetsOf('pi', at)];
  expect(settings.map(({ code }) => code.includes(`"reasoning": ${reasoning}`))).toEqual(
    settings.map(() => true),
  );
});

test('what a service without Responses shows is of the other formats', () => {
  const groups = snippetGroups({ ...AT, responses: false });
  expect(groups.map(({ id }) => id)).not.toContain('codex');
  expect(groups.flatMap(({ snippets }) => snippets.map(({ format }) => format))).not.toContain(
    'responses',
  );
});

test('settings are files that can be read', () => {
  const at = AT;
  for (const { code } of [...snippetsOf('opencode', at), ...snippetsOf('pi', at)]) {
    expect(JSON.stringify(JSON.parse(code))).toContain('"apiKey":"sk-key"');
  }
  for (const { code } of snippetsOf('codex', at)) {
    expect(Bun.TOML.parse(code)).toMatchObject({
      model: 'swift-1',
      model_providers: { tollgate: { name: AT.name, wire_api: 'responses' } },
    });
  }
  for (const { code } of snippetsOf('continue', at)) {
    expect(Bun.YAML.parse(code)).toMatchObject({
      name: AT.name,
      schema: 'v1',
      models: [{ model: 'swift-1', apiKey: 'sk-key', roles: ['chat', 'edit', 'apply'] }],
    });
  }
});
