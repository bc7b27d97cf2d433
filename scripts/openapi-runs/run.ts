// `scripts/openapi`: runs schemathesis over the description that the executable serves, with the
// demonstration catalog. Fails on a 500, on an answer that is not described, and on a wrong request that
// is taken. The script has put schemathesis into .tools/clients. Prints `N passed, N failed`.
//
//   scripts/openapi [--examples 200] [--seed 5]

import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startGateway } from '../../test/support/gateway.ts';

const { values: flags } = parseArgs({
  options: {
    examples: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
  },
});

const SCHEMATHESIS = resolve(import.meta.dir, '../../.tools/clients/venv/bin/schemathesis');

const CHECKS = [
  ...['not_a_server_error', 'status_code_conformance', 'content_type_conformance'],
  ...['response_headers_conformance', 'response_schema_conformance', 'negative_data_rejection'],
  ...['ignored_auth', 'unsupported_method', 'allow_header_conformance', 'refused_by_rule_alone'],
];

/** Streams are read to their end; and what a wrong request may be answered. */
const SETTINGS = `max-stream-events = 10000

[checks]
negative_data_rejection.expected-statuses = [400, 401, 404, 405, 413, 415, 429]
`;

type Served = {
  readonly components: {
    readonly schemas: Readonly<Record<string, { properties: { model: { enum?: string[] } } }>>;
  };
};

await using gateway = await startGateway();
const { key } = await gateway.createAccount({ plan: 'business', credit: 1_000_000_000 });

/** Names that are drawn are those of no model, and nothing would be answered. */
const served = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as Served;
for (const name of ['ChatCompletionRequest', 'MessagesRequest', 'CountTokensRequest']) {
  const body = served.components.schemas[name];
  if (body === undefined) throw new Error(`there is no ${name}`);
  body.properties.model.enum = ['demo-chat', 'demo-reasoner'];
}
const description = join(gateway.directory, 'openapi.json');
// Its name in OpenAPI 3.2, by which schemathesis checks each event.
await Bun.write(description, JSON.stringify(served).replaceAll('"x-itemSchema"', '"itemSchema"'));
await Bun.write(join(gateway.directory, 'schemathesis.toml'), SETTINGS);

const child = Bun.spawn(
  [
    ...[SCHEMATHESIS, 'run', description, '--url', gateway.url],
    ...['--header', `Authorization: Bearer ${key}`, '--checks', CHECKS.join(',')],
    ...['--phases', 'examples,coverage,fuzzing', '--mode', 'all'],
    ...['--max-examples', flags.examples, '--seed', flags.seed, '--continue-on-failure'],
    ...['--generation-database', 'none', '--no-color', '--suppress-health-check', 'all'],
    // Threads break the parser of Python 3.11 where a generator recurses deeply.
    ...['--workers', '1', '--warnings', 'off'],
  ],
  {
    cwd: gateway.directory,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: gateway.directory,
      PYTHONPATH: import.meta.dir,
      PYTHONDONTWRITEBYTECODE: '1',
      SCHEMATHESIS_HOOKS: 'rules',
    },
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
  },
);
const code = await child.exited;
process.stdout.write(`${code === 0 ? 1 : 0} passed, ${code === 0 ? 0 : 1} failed\n`);
process.exitCode = code;
