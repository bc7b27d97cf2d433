// The examples of the documents run as they stand, and the records and bills that are shown have the
// members that a real gateway answers with.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { DEMO_CATALOG } from '../../src/catalog/demo-catalog.ts';
import { generate, generateStream, get } from '../support/client.ts';
import {
  type Gateway,
  gatewayCommand,
  startGateway,
  type TestAccount,
} from '../support/gateway.ts';
import { newPostgresUrl } from '../support/postgres-database.ts';
import { runProgram } from '../support/program.ts';
import { describeWithServices } from '../support/services.ts';
import { blocks, CUSTOMERS, customerPage, operatorPage, PAGES, read, shape } from './documents.ts';

const PRICE_LIST = `{"gpt-5-mini": {"litellm_provider": "openai", "mode": "chat", "max_input_tokens": 272000,
"max_output_tokens": 128000, "input_cost_per_token": 2.5e-07, "output_cost_per_token": 2e-06}}`;

/** A day on which nothing was used. */
const BILL = `start_time,amount_value,amount_currency,line_item
1767225600,0,usd,"gpt-5-mini, input"
`;

const DRAFT = `[[add]]
model = "demo-chat"
valid_from = 2099-01-01T00:00:00Z
input = "0.2"
output = "0.7"
`;

describe('snippets', () => {
  let gateway: Gateway;
  let account: TestAccount;

  beforeAll(async () => {
    gateway = await startGateway();
    account = await gateway.createAccount({ plan: 'business' });
  });

  afterAll(() => gateway[Symbol.asyncDispose]());

  const here = (text: string): string => text.replaceAll('http://127.0.0.1:3000', gateway.url);

  /** Runs a program on a snippet; a snippet that fails shows what it printed. */
  function runSnippet(command: readonly string[], more: Record<string, string> = {}) {
    return runProgram(command, {
      cwd: gateway.directory,
      env: { PATH: process.env['PATH'] ?? '', PORT: '0', API_KEY: account.key, ...more },
    });
  }

  // `examples.test.ts` runs those of customers, `test/blackbox/operator-api.test.ts` those of the console.
  const pages = ['README.md', ...PAGES.filter((page) => !page.startsWith(CUSTOMERS))];
  const curls = pages.flatMap((page) =>
    blocks(read(page), 'sh').filter(
      (block) => /^curl /m.test(block) && !block.includes('"$CONSOLE/'),
    ),
  );

  test.skipIf(Bun.which('curl') === null)('curl: every line is answered', async () => {
    const failing = 'curl() { command curl --silent --show-error --fail "$@"; }\n';
    const { headers } = await generate(account, 'chat', 'demo-chat');
    const request = { REQUEST_ID: headers.get('x-request-id') ?? '' };
    const results = await Promise.all(
      curls.map(async (block) => {
        const ownKey = block.replace(/^export API_KEY=.*$/m, '');
        return { block, ...(await runSnippet(['sh', '-c', failing + here(ownKey)], request)) };
      }),
    );
    for (const { block, code, stdout, stderr } of results) {
      expect([code, stderr]).toEqual([0, '']);
      const isAnswer = /\/v1\/(chat\/completions|messages|responses) /.test(block);
      expect(stdout).toContain(isAnswer ? 'svc_tokens_debited' : '{');
    }
  });

  /**
   * The examples of the command line, one after the other, on a copy of the books: the switches that
   * they turn are not for the server of the other tests. With a `postgresUrl` the copy is moved there
   * first.
   */
  async function runExamples(postgresUrl?: string) {
    const { headers } = await generate(account, 'chat', 'demo-chat');
    const terms = ['--amount', '5', '--count', '2', '--reason', 'an example'];
    const made = (await gateway.run('code', 'create', ...terms))['data'];
    const [redeemed, revoked] = made as { readonly code: string; readonly id: string }[];
    const invitation = (await gateway.run('invite', 'create'))['invite'] as { readonly id: string };
    const dates = ['--scopes', 'prices:read', '--expires', daysAhead(30)];
    const token = await gateway.run('token', 'create', crypto.randomUUID(), ...dates);
    const operatorToken = token['operator_token'] as { readonly id: string };
    const copy = `examples-${crypto.randomUUID()}.db`;
    await gateway.run('backup', copy);
    await Bun.write(join(gateway.directory, 'next.toml'), DEMO_CATALOG);
    await Bun.write(join(gateway.directory, 'draft.toml'), DRAFT);
    await Bun.write(join(gateway.directory, 'bill.csv'), BILL);
    await Bun.write(join(gateway.directory, 'prices.json'), PRICE_LIST);
    const examples = blocks(operatorPage('command-line'), 'sh').join('\n');
    const lines =
      postgresUrl === undefined
        ? [examples]
        : [
            `DATABASE_URL=sqlite:./${copy} tollgate export ${copy}.moved`,
            `tollgate import ${copy}.moved`,
            // A copy of PostgreSQL is made by its own tools.
            examples.replace(/^tollgate backup .*$/m, ''),
          ];
    const script = ['set -e', `tollgate() { ${FORWARD}; }`, ...lines].join('\n');
    return runSnippet(['sh', '-c', script], {
      DATABASE_URL: postgresUrl ?? `sqlite:./${copy}`,
      KEY: account.key,
      CODE: redeemed?.code ?? '',
      CODE_ID: revoked?.id ?? '',
      TOKEN_ID: operatorToken.id,
      MODEL: 'demo-chat',
      REQUEST_ID: headers.get('x-request-id') ?? '',
      FILE: `copy-of-${copy}`,
      RECEIPTS: `${copy}.jsonl`,
      NEXT_CATALOG: 'next.toml',
      // What is published is written into a catalog file, and the server has none.
      CATALOG: 'next.toml',
      DRAFT: 'draft.toml',
      BILL: 'bill.csv',
      PRICE_LIST: 'prices.json',
      INVITE: invitation.id,
      PASSWORD: 'a password of some length',
      UPSTREAM: 'demo',
    });
  }

  // A process for each of them, on a machine that is busy with other things.
  test('the commands of the command line page work, one after the other', async () => {
    const { code, stderr } = await runExamples();
    expect([code, stderr]).toEqual([0, '']);
  }, 60_000);

  describeWithServices('on PostgreSQL', ['PostgreSQL'], () => {
    test('they do the same after a move, but for the backup', async () => {
      const { code, stderr } = await runExamples(await newPostgresUrl());
      expect([code, stderr]).toEqual([0, '']);
    }, 90_000);
  });

  test('the records have the members that are shown', async () => {
    const other = await gateway.createAccount({ plan: 'business' });
    const keys = (await get(other, '/v1/api-keys')).json['data'];
    const shown = ['account', 'keys', 'models'].map((page) => shownOn(customerPage(page))[0]);
    expect(shown.map(shape)).toEqual([
      shape((await get(other, '/v1/account')).json),
      shape(Array.isArray(keys) ? keys[0] : undefined),
      shape((await get(other, '/v1/models/demo-chat')).json),
    ]);
  });

  test('the bills have the members that are shown', async () => {
    const other = await gateway.createAccount({ plan: 'business' });
    const chat = await generateStream(other, 'chat', 'demo-chat');
    const messages = await generateStream(other, 'messages', 'demo-chat');
    const delta = messages.events.find((event) => event.event === 'message_delta');
    const responses = await generateStream(other, 'responses', 'demo-chat');
    const bill = await get(other, `/v1/receipts/${chat.headers.get('x-request-id')}`);
    expect(shownOn(customerPage('bill')).map(shape)).toEqual([
      shape(chat.events.at(-2)?.json),
      shape(delta?.json),
      shape(Object(responses.events.at(-1)?.json).response.usage),
      shape(bill.json),
    ]);
    const { json } = await generate(other, 'chat', 'demo-chat');
    expect(shownOn(read('README.md')).map(shape)).toEqual([shape(json['usage'])]);
  });
});

/** The body of a shell function that hands its arguments to the gateway's command line. */
const FORWARD = `${gatewayCommand()
  .map((part) => `'${part}'`)
  .join(' ')} "$@"`;

function shownOn(text: string): unknown[] {
  return blocks(text, 'json').map((block) => JSON.parse(block));
}

function daysAhead(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}
