// Every example of the customers' pages runs as a server shows it: with its address, one of its own models
// and the reader's key. The service has none of the demonstration's models.

import { beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { generate } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { runProgram } from '../support/program.ts';
import { CUSTOMERS, PAGES, programs, ROOT } from './documents.ts';

const PYTHON = join(ROOT, '.tools/clients/venv/bin/python');

const model = (slug: string, as: string, features: string): string => `
[[model]]
slug = "${slug}"
context_window = 128000
max_output = 8192
features = [${features}]
price = { input = "1", output = "2" }
served_by = [{ upstream = "inside", model = "${as}" }]
`;

const CATALOG = `
[[upstream]]
id = "inside"
dialect = "demo"
${model('swift-1', 'demo-chat', '')}
${model('swift-2', 'demo-chat', '"tools", "json"')}
${model('iris-1', 'demo-chat', '"vision"')}
${model('sage-3', 'demo-reasoner', '"tools", "reasoning"')}`;

/** What a reader copies that is no program: settings, and fragments that import nothing. */
const isProgram = (language: string, code: string): boolean =>
  language === 'sh' ? /^curl /m.test(code) : /^import /m.test(code);

let gateway: Gateway;
let account: TestAccount;
let variables: Record<string, string>;
const pages = new Map<string, string>();

beforeAll(async () => {
  gateway = await startGateway({ catalog: CATALOG });
  account = await gateway.createAccount({ plan: 'business' });
  const { headers } = await generate(account, 'chat', 'swift-1');
  variables = { API_KEY: account.key, REQUEST_ID: headers.get('x-request-id') ?? '' };
  for (const page of PAGES.filter((each) => each.startsWith(CUSTOMERS))) {
    const topic = basename(page, '.md').replace('README', '');
    pages.set(topic, await (await fetch(`${gateway.url}/docs/${topic}`)).text());
  }
});
closeAtEnd(() => [gateway]);

const programsIn = (language: string) =>
  [...pages].flatMap(([topic, html]) =>
    programs(html)
      .filter(([each, code]) => each === language && isProgram(each, code))
      .map(([, code]) => ({ topic, code })),
  );

test('every page names models that the service sells, the first that has what is shown', () => {
  const named = (topic: string) => [
    ...new Set(
      /\b(swift-1|swift-2|iris-1|sage-3)\b/g
        [Symbol.matchAll](pages.get(topic) ?? '')
        .map(([slug]) => slug),
    ),
  ];
  expect([...pages].filter(([, html]) => /demo-(chat|reasoner)/.test(html))).toEqual([]);
  expect([named('quickstart'), named('api')]).toEqual([['swift-1'], ['swift-1']]);
  expect([named('tools'), named('json')]).toEqual([['swift-2'], ['swift-2']]);
  expect([named('images'), named('thinking')]).toEqual([['iris-1'], ['sage-3']]);
});

test('the Markdown of a page and the description of the API name them, too', async () => {
  const texts = ['/docs/tools.md', '/openapi.json'].map(async (path) =>
    (await fetch(`${gateway.url}${path}`)).text(),
  );
  const [markdown = '', description = ''] = await Promise.all(texts);
  expect(markdown).toContain('"model": "swift-2"');
  expect(description).toContain('"model":"swift-1"');
  expect(`${markdown}${description}`).not.toMatch(/demo-(chat|reasoner)/);
});

test('pages follow a new catalog', async () => {
  await using other = await startGateway({ catalog: CATALOG });
  const shown = async () => (await fetch(`${other.url}/docs/quickstart`)).text();
  expect(await shown()).toContain('swift-1');
  await other.writeCatalog(CATALOG.replaceAll('swift-1', 'swift-9'));
  await other.run('catalog', 'reload');
  expect(await shown()).toContain('swift-9');
});

type Program = { readonly topic: string; readonly code: string };

/** Runs all programs, and returns those that failed, with what they printed. */
async function failuresOf(all: readonly Program[], commandOf: (code: string) => string[]) {
  const outcomes = await Promise.all(
    all.map(async ({ topic, code: program }) => {
      const { code, stdout, stderr } = await runProgram(commandOf(program), {
        cwd: gateway.directory,
        env: { PATH: process.env['PATH'] ?? '', ...variables },
      });
      const bills = stdout.match(/^debited: [\d.]+$/gm)?.length ?? 0;
      // Those of the quickstart print an answer, a stream, and both bills.
      const isRight = stdout.trim() !== '' && (!program.includes('debited:') || bills === 2);
      return { topic, code, stdout, stderr, isRight };
    }),
  );
  return outcomes.filter(({ code, stderr, isRight }) => code !== 0 || stderr !== '' || !isRight);
}

describe('every program is answered', () => {
  test.skipIf(Bun.which('curl') === null)(
    'curl',
    async () => {
      const all = programsIn('sh');
      expect(all.length).toBeGreaterThanOrEqual(25);
      const failing = 'curl() { command curl --silent --show-error --fail "$@"; }\n';
      expect(await failuresOf(all, (code) => ['sh', '-c', failing + code])).toEqual([]);
    },
    60_000,
  );

  test('JavaScript', async () => {
    const all = programsIn('js');
    expect(all.length).toBeGreaterThanOrEqual(15);
    const folder = join(gateway.directory, 'js');
    mkdirSync(folder);
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const command = (code: string) => {
      const path = join(folder, `${crypto.randomUUID()}.mjs`);
      writeFileSync(path, code);
      return [process.execPath, path];
    };
    expect(await failuresOf(all, command)).toEqual([]);
  }, 120_000);

  // `scripts/clients` installs the libraries, and runs this test.
  test.skipIf(!existsSync(PYTHON))(
    'Python',
    async () => {
      const all = programsIn('python');
      expect(all.length).toBe(programsIn('js').length);
      expect(await failuresOf(all, (code) => [PYTHON, '-c', code])).toEqual([]);
    },
    180_000,
  );
});
