// `scripts/clients`: runs the vendors' own test suites against the executable, over upstreams of
// each dialect. The script has installed the suites into .tools/clients. Prints failures, expected
// failures, and `N passed, N failed`.
//
//   scripts/clients [--only schemathesis] [--upstream chat]

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { catalogFor, ROOMY_PLAN } from '../../test/support/catalog.ts';
import { type Gateway, startGateway } from '../../test/support/gateway.ts';
import { runProgram } from '../../test/support/program.ts';
import type { WireDialect } from '../../test/support/render.ts';
import { startUpstream } from '../../test/support/upstream.ts';
import { answer } from './model.ts';
import { EXCEPTIONS, SUITES, type Suite } from './suites.ts';

const DIALECTS = ['chat', 'messages', 'responses'] as const;

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    upstream: { type: 'string', multiple: true, default: [...DIALECTS] },
  },
});

type Result = {
  readonly suite: string;
  readonly upstream: WireDialect;
  readonly test: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly words: string;
};

const TOOLS = resolve(import.meta.dir, '../../.tools/clients');
const PYTHON = join(TOOLS, 'venv/bin/python');
const PLUGINS = join(import.meta.dir, 'python');

/** The names that the suites have for models. One of them walks over all that its vendor has retired. */
const RETIRED =
  'from anthropic.resources.messages.messages import DEPRECATED_MODELS; print(*DEPRECATED_MODELS)';
const ALIASES = [
  ...Bun.spawnSync([PYTHON, '-c', RETIRED]).stdout.toString().trim().split(' '),
  'gpt-6-astra',
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'model_id',
  'string',
  'model',
];

const wanted = SUITES.filter(({ name }) => flags.only.length === 0 || flags.only.includes(name));
const dialects = DIALECTS.filter((name) => flags.upstream.includes(name));
if (wanted.length === 0 || dialects.length === 0)
  throw new Error('no such suite, or no such upstream');

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

async function runSuite(
  suite: Suite,
  upstream: WireDialect,
  { url }: Gateway,
  key: string,
): Promise<Result[]> {
  const isOwn = suite.folder === 'python';
  const folder = isOwn ? PLUGINS : join(TOOLS, 'suites', suite.folder);
  const report = join(TOOLS, `${suite.name}-${upstream}.jsonl`);
  rmSync(report, { force: true });
  writeFileSync(report, '');
  const base = suite.folder === 'openai' ? `${url}/v1` : url;
  const { stdout, stderr } = await runProgram(
    [
      PYTHON,
      '-m',
      'pytest',
      '-q',
      '-p',
      'report',
      '-p',
      'no:cacheprovider',
      '-c',
      join(PLUGINS, 'pytest.ini'),
      '--rootdir',
      folder,
      ...suite.arguments,
    ],
    {
      cwd: folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: TOOLS,
        PYTHONPATH: `${folder}:${PLUGINS}`,
        PYTHONDONTWRITEBYTECODE: '1',
        CLIENTS_REPORT: report,
        CLIENTS_URL: url,
        CLIENTS_KEY: key,
        TEST_API_BASE_URL: base,
        LANGSMITH_TRACING: 'false',
        HYPOTHESIS_STORAGE_DIRECTORY: join(TOOLS, 'hypothesis'),
      },
    },
  );
  const lines = readFileSync(report, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  if (lines.length === 0)
    throw new Error(`${suite.name} ran no tests: ${stdout.slice(-2_000)}${stderr.slice(-2_000)}`);
  return lines.map((line) => ({ suite: suite.name, upstream, ...JSON.parse(line) }));
}

async function runAll(upstream: WireDialect): Promise<Result[]> {
  await using model = await startUpstream({ 'swift-1': answer, 'swift-2': answer });
  await using gateway = await startGateway({
    catalog: catalogFor(model, ['swift-1', 'swift-2'], {
      dialect: upstream,
      models: { 'swift-1': { aliases: ALIASES } },
      plans: { roomy: { name: 'Roomy', ...ROOMY_PLAN } },
    }),
  });
  const { key } = await gateway.createAccount({ plan: 'roomy', credit: 1_000_000_000 });
  const results: Result[] = [];
  for (const suite of wanted) {
    const startedAt = performance.now();
    const ran = await runSuite(suite, upstream, gateway, key);
    const count = (outcome: Result['outcome']) =>
      ran.filter((each) => each.outcome === outcome).length;
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
    print(
      `${suite.name}, ${upstream} upstream: ${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped (${seconds} s)`,
    );
    results.push(...ran);
  }
  return results;
}

const results: Result[] = [];
for (const upstream of dialects) results.push(...(await runAll(upstream)));

const used = new Set<unknown>();
let failures = 0;
for (const result of results.filter(({ outcome }) => outcome === 'failed')) {
  const exception = EXCEPTIONS.find(({ suite, upstream, tests }) => {
    return (
      suite === result.suite &&
      (upstream ?? result.upstream) === result.upstream &&
      tests.test(result.test)
    );
  });
  if (exception === undefined) {
    failures += 1;
    print(`\nFAILED ${result.suite}, ${result.upstream} upstream: ${result.test}\n${result.words}`);
  } else {
    used.add(exception);
  }
}
for (const exception of EXCEPTIONS) {
  const ran = dialects.some((dialect) => (exception.upstream ?? dialect) === dialect);
  if (!ran || !wanted.some(({ name }) => name === exception.suite)) continue;
  if (used.has(exception))
    print(`expected: ${exception.suite} ${exception.tests}: ${exception.reason}`);
  else {
    failures += 1;
    print(`\nFAILED an exception is not needed any more: ${exception.suite} ${exception.tests}`);
  }
}
const passed = results.filter(({ outcome }) => outcome === 'passed').length;
print(`\n${passed} passed, ${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;
