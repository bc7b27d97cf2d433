// `tollgate catalog suggest`: what it prints and writes, and what it leaves alone.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../support/database.ts';
import { createTollgate } from './tollgate.ts';

// A child process a command takes its time on a machine that is busy with other things.
setDefaultTimeout(60_000);

const home = temporaryDirectory();
const tollgate = createTollgate(home, { OPENAI_KEY: 'secret' });

const CATALOG = `[[upstream]]
id = "main"
dialect = "chat"
base_url = "https://api.example.com/v1"
api_key = "\${OPENAI_KEY}"

[[model]]
slug = "swift"
context_window = 1000
max_output = 100
price = { input = "1", output = "4" }
served_by = [{ upstream = "main", model = "gpt-5", cost = { input = "1", output = "2" } }]
`;

const model = (input: string) =>
  `{"litellm_provider":"openai","mode":"chat","max_input_tokens":9000,"max_output_tokens":900,"input_cost_per_token":${input},"output_cost_per_token":2e-06}`;

const DRAFT = CATALOG.replace('cost = { input = "1", ', 'cost = { input = "1.25", ');

beforeAll(async () => {
  await Bun.write(join(home, 'catalog.toml'), CATALOG);
  await Bun.write(
    join(home, 'list.json'),
    `{"gpt-5":${model('1.25e-06')},"gpt-6":${model('5e-07')}}`,
  );
  await Bun.write(join(home, 'same.json'), `{"gpt-5":${model('1e-06')}}`);
});

const OPENAI = ['--upstream', 'main', '--provider', 'openai'];
const COMMAND = ['catalog', 'suggest', '--from', 'list.json', ...OPENAI];

test('prints the difference as comments, then the whole catalog', async () => {
  expect(await tollgate.run(...COMMAND)).toEqual({
    exitCode: 0,
    stdout: `# From openai of list.json, for the upstream main.
# swift: cost.input "1" -> "1.25"
# Warning: swift: the current price is below the cost of main: input 1 (costs 1.25), cached_input 1 (costs 1.25), cache_write 1 (costs 1.25).
# Not in the catalog, for --models: gpt-6.

${DRAFT}`,
    stderr: '',
  });
  expect(readFileSync(join(home, 'catalog.toml'), 'utf8')).toBe(CATALOG);
});

test('drafts a catalog that is valid, with new models', async () => {
  const { stdout } = await tollgate.run(...COMMAND, '--models', 'gpt-6', '--margin', '20%');
  expect(stdout).toContain('# gpt-6: price none -> { input = "0.6", output = "2.4" }\n');
  expect(stdout).toContain(`\n\n${CATALOG.trimEnd()}`);
  await Bun.write(join(home, 'next.toml'), stdout);
  expect((await tollgate.json('catalog', 'check', 'next.toml'))['models']).toBe(2);
});

test('ends with 1 where the draft is not valid', async () => {
  await Bun.write(join(home, 'taken.json'), `{"swift":${model('1e-06')}}`);
  const command = ['catalog', 'suggest', '--from', 'taken.json', ...OPENAI, '--models', 'swift'];
  const { exitCode, stdout } = await tollgate.run(...command);
  expect([exitCode, stdout.includes('# The draft is not valid: ')]).toEqual([1, true]);
});

test('prints the same catalog where nothing differs', async () => {
  expect(await tollgate.json('catalog', 'suggest', '--from', 'same.json', ...OPENAI)).toEqual({
    ...{ provider: 'openai', upstream: 'main', changes: [], others: [], notes: [] },
    ...{ problems: [], warnings: [], text: CATALOG },
  });
});

test.each([
  [['--from', 'none.json', '--upstream', 'main'], 'invalid_catalog'],
  [['--from', 'catalog.toml', '--upstream', 'main'], 'invalid_catalog'],
  [['--from', 'list.json', '--upstream', 'other'], 'unknown_name'],
  [['--from', 'list.json', '--upstream', 'main'], 'unknown_name'],
  [['--from', 'list.json', '--upstream', 'main', '--margin', 'some'], 'invalid_number'],
] as const)('rejects %p', async (options, code) => {
  expect(await tollgate.refusal('catalog', 'suggest', ...options)).toEqual([1, code]);
});
