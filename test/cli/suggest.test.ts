// `tollgate catalog suggest`: what it prints and writes, and what it leaves alone.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
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
base_url = "https://api.openai.com/v1"
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
# Note: swift: its price of input is below the cost.
# Not in the catalog, for --models: gpt-6.

${DRAFT}`,
    stderr: '',
  });
  expect(readFileSync(join(home, 'catalog.toml'), 'utf8')).toBe(CATALOG);
});

test('writes a new file that is a valid catalog, and replaces none', async () => {
  const options = ['--models', 'gpt-6', '--margin', '20%', '--output', 'next.toml'];
  const { exitCode, stdout } = await tollgate.run(...COMMAND, ...options);
  expect([exitCode, stdout.includes('gpt-6 is new.\n')]).toEqual([0, true]);
  expect(readFileSync(join(home, 'next.toml'), 'utf8').startsWith(CATALOG.trimEnd())).toBe(true);
  expect(readFileSync(join(home, 'next.toml'), 'utf8')).toContain(
    'price = { input = "0.6", output = "2.4" }',
  );
  expect((await tollgate.json('catalog', 'check', 'next.toml'))['models']).toBe(2);
  expect(await tollgate.refusal(...COMMAND, ...options)).toEqual([1, 'file_exists']);
});

test('writes nothing where nothing differs', async () => {
  const options = [...OPENAI, '--output', 'none.toml'];
  expect(await tollgate.json('catalog', 'suggest', '--from', 'same.json', ...options)).toEqual({
    ...{ provider: 'openai', upstream: 'main', changes: [], others: [], notes: [] },
    ...{ problems: [], file: null, text: null },
  });
  expect(existsSync(join(home, 'none.toml'))).toBe(false);
});

test.each([
  [['--from', 'none.json', '--upstream', 'main'], 'file_not_readable'],
  [['--from', 'catalog.toml', '--upstream', 'main'], 'invalid_catalog'],
  [['--from', 'list.json', '--upstream', 'other'], 'unknown_name'],
  [['--from', 'list.json', '--upstream', 'main'], 'unknown_name'],
  [['--from', 'list.json', '--upstream', 'main', '--margin', 'some'], 'invalid_number'],
] as const)('rejects %p', async (options, code) => {
  expect(await tollgate.refusal('catalog', 'suggest', ...options)).toEqual([1, code]);
});
