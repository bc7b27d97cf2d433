// Holds the documents to the program: the tables are the tables of the source, the links lead
// somewhere, the snippets run, and the records have the members that a real gateway answers with.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { dependencies } from '../package.json';
import { loadCatalog } from '../src/catalog/catalog.ts';
import { DEMO_CATALOG } from '../src/catalog/demo-catalog.ts';
import { PROFILE_SCHEMAS } from '../src/catalog/profile-schema.ts';
import { ModelSchema, PlanSchema, ServiceSchema, UpstreamSchema } from '../src/catalog/schema.ts';
import { VARIABLES } from '../src/config/settings.ts';
import { REFUSAL_ORDER } from '../src/core/admit.ts';
import { BUILT_IN_PROFILES } from '../src/core/built-in-profiles.ts';
import { ERRORS, type ErrorCode, GatewayError } from '../src/core/error.ts';
import { BUILT_IN_PLANS, type Plan } from '../src/core/plan.ts';
import { priceAt } from '../src/core/price-book.ts';
import type { UpstreamProfile } from '../src/core/profile.ts';
import { allowedMethods } from '../src/http/routes.ts';
import { generate, generateStream, get } from './support/client.ts';
import { type Gateway, gatewayCommand, startGateway, type TestAccount } from './support/gateway.ts';
import { newPostgresUrl } from './support/postgres-database.ts';
import { describeWithServices } from './support/services.ts';

const root = resolve(import.meta.dir, '..');
const DOCUMENTS = [
  ...['README.md', 'src/README.md', 'src/decisions.md', 'test/README.md'],
  'scripts/benchmark/README.md',
];
const readme = read('README.md');

const DRAFT = `[[add]]
model = "demo-chat"
valid_from = 2099-01-01T00:00:00Z
input = "0.2"
output = "0.7"
`;

describe('README tables', () => {
  test('errors: every row of the error table, and no other', () => {
    const actual = tableUnder('Errors').map((cells) => cells.slice(0, 5).join(' | '));
    const expected = Object.entries(ERRORS).map(([code, row]) => {
      const error = new GatewayError(code as ErrorCode);
      const cells = [error.status, code, error.chatType, error.messagesType, row.retry];
      return cells.join(' | ');
    });
    expect(actual).toEqual(expected);
  });

  test('errors: each has a meaning and something to do', () => {
    for (const cells of tableUnder('Errors')) {
      expect(cells).toHaveLength(7);
      for (const cell of cells.slice(5)) expect(cell).toMatch(/^[A-Z].+\.$/);
    }
  });

  test('errors: the order of refusals has one term for each code', () => {
    const sentence = /told: ([^.]+)\./.exec(section('Errors'))?.[1] ?? '';
    expect(sentence.split(/,\s+/)).toHaveLength(REFUSAL_ORDER.length);
  });

  test('variables', () => {
    expect(tableUnder('Configuration')).toEqual(
      VARIABLES.map(({ name, fallback = '', about }) => [name, fallback, about]),
    );
  });

  test('built-in plans', () => {
    const row = (plan: Plan): string[] => [
      plan.slug,
      ...[plan.requestsPerMinute, plan.tokensPerMinute, plan.concurrentRequests].map(grouped),
      ...[plan.maxContext, plan.maxApiKeys].map(grouped),
    ];
    expect(tableUnder('Plans and limits').slice(0, 5)).toEqual(BUILT_IN_PLANS.map(row));
  });

  test('endpoints: every one that is named is served with its method', () => {
    const named = [...section('API').matchAll(/`(GET|POST|HEAD) (\/[^`]*)`/g)];
    expect(named.length).toBeGreaterThanOrEqual(11);
    for (const [, method = '', path = ''] of named) {
      expect([path, allowedMethods(path.replace(/\{.*\}/, 'swift-1'))]).toEqual([
        path,
        expect.stringContaining(method),
      ]);
    }
  });
});

describe('README catalog', () => {
  const [example = ''] = blocksUnder('Catalog', 'toml');

  test('loads, and means what its comments say', () => {
    const environment = { DEEPSEEK_API_KEY: 'upstream-secret' };
    const catalog = loadCatalog({ text: example, environment, nowMs: 0 });
    const deepseek = catalog.upstreams.get('deepseek');
    expect(deepseek?.credentials).toEqual([{ id: '1', apiKey: 'upstream-secret' }]);
    expect(catalog.models.map((model) => model.slug)).toEqual(['swift-1', 'swift-0']);
    expect(catalog.plans.get('pro')?.requestsPerMinute).toBe(300);
    expect(catalog.plans.get('trial')?.models).toEqual(['swift-0']);
  });

  test('values said to be a default are the default', () => {
    const lines = example.split('\n');
    const isDefault = (line: string): boolean =>
      /^\w+ = [^#]+#.*; default (?:[\d"]|true|false)/.test(line);
    expect(lines.filter(isDefault)).toHaveLength(16);
    const withoutDefaults = lines.filter((line) => !isDefault(line)).join('\n');
    const environment = { DEEPSEEK_API_KEY: 'upstream-secret' };
    const load = (text: string) => {
      const { resolve: _, ...catalog } = loadCatalog({ text, environment, nowMs: 0 });
      return catalog;
    };
    expect(load(withoutDefaults)).toEqual(load(example));
  });

  test('the example of prices loads, and means what its comments say', () => {
    const [prices = ''] = blocksUnder('Prices', 'toml');
    const environment = { DEEPSEEK_API_KEY: 'upstream-secret' };
    const catalog = loadCatalog({ text: `${example}\n${prices}`, environment, nowMs: 0 });
    const book = catalog.resolve('swift-2')?.prices ?? expect.unreachable();
    const inputAt = (time: string): bigint => priceAt(book, Date.parse(time)).input / 10n ** 9n;
    const times = ['2098-12-31T16:00Z', '2098-12-31T23:00Z', '2099-01-01T00:00Z'];
    // A Wednesday, its night, the Thursday that follows, and the Saturday.
    expect([...times, '2099-01-03T12:00Z'].map(inputAt)).toEqual([270n, 135n, 200n, 100n]);
  });

  test('has every key', () => {
    const schemas = [ServiceSchema, UpstreamSchema, ModelSchema, PlanSchema];
    const keys = schemas.flatMap((schema) => Object.keys(schema.properties));
    const missing = keys.filter((key) => !new RegExp(`\\b${key}(?: = |\\]\\])`).test(example));
    expect(missing).toEqual([]);
  });
});

describe('README profiles', () => {
  const HEADING = 'Upstreams and profiles';
  const rows = tableUnder(HEADING);
  const profiles = rows.filter((cells) => cells.length === 3);
  const fields = rows.filter((cells) => cells.length === 4);
  const MODEL = `
    [[model]]
    slug = "m"
    context_window = 1
    max_output = 1
    price = { input = 1, output = 1 }
    served_by = [{ upstream = "up", model = "m" }]`;

  function profileOf(dialect: UpstreamProfile['dialect'], tables: string, name = 'row') {
    const upstream = `
      [[upstream]]
      id = "up"
      dialect = "${dialect}"
      base_url = "http://up"
      profile = "${name}"`;
    const catalog = loadCatalog({ text: MODEL + upstream + tables, environment: {}, nowMs: 0 });
    const loaded = catalog.upstreams.get('up');
    return loaded?.dialect === 'demo' ? undefined : loaded?.profile;
  }

  test('every built-in profile, with all that differs from its default', () => {
    expect(profiles.map(([name]) => name)).toEqual([...BUILT_IN_PROFILES.keys()]);
    for (const [name = '', , differs = ''] of profiles) {
      const profile = BUILT_IN_PROFILES.get(name) ?? expect.unreachable();
      const [, like] = /^as `([^`]+)`, /.exec(differs) ?? [];
      const base = like ?? profile.dialect;
      // The cell has lost its outer marks; what stands before the first setting is words.
      const settings =
        differs === 'nothing' ? [] : differs.replace(/^as .*?, `?/, '').split('`, `');
      const table = ['\n[profile.row]', `base = "${base}"`, ...settings].join('\n');
      expect([name, profileOf(profile.dialect, table.replaceAll('`', ''))]).toEqual([
        name,
        profile,
      ]);
    }
  });

  test('every field of each dialect, with its values, the default first', () => {
    for (const [column, dialect, name] of [
      [1, 'chat', 'chat'],
      [2, 'messages', 'messages'],
    ] as const) {
      const { base: _, ...known } = PROFILE_SCHEMAS[dialect].properties;
      const described = fields.filter((cells) => cells[column] !== '');
      expect(described.map(([field]) => field).toSorted()).toEqual(Object.keys(known).toSorted());
      for (const cells of described) {
        const [field = ''] = cells;
        const values = (cells[column] ?? '').split('`, `');
        for (const [index, value] of values.entries()) {
          const table = `\n[profile.row]\nbase = "${name}"\n${field} = ${value}`;
          const same = Bun.deepEquals(profileOf(dialect, table), profileOf(dialect, '', name));
          expect([field, value, same]).toEqual([field, value, index === 0]);
        }
        const allowed: unknown = Reflect.get(Reflect.get(known, field), 'anyOf');
        if (Array.isArray(allowed)) expect([field, values.length]).toEqual([field, allowed.length]);
      }
    }
  });

  test('the example loads, and means what its comments say', () => {
    const [example = ''] = blocksUnder(HEADING, 'toml');
    const text = `${MODEL.replace('"up"', '"workstation"')}\n${example}`;
    const catalog = loadCatalog({ text, environment: { ANTHROPIC_API_KEY: 'k' }, nowMs: 0 });
    const base = profileOf('chat', '', 'llama.cpp');
    expect(catalog.upstreams.get('workstation')).toMatchObject({
      profileName: 'workstation',
      profile: {
        ...base,
        thinkTags: 'opened',
        effortWords: { off: '', low: 'low', high: 'high', max: 'max' },
        extraBody: { cache_prompt: true },
      },
    });
    expect(catalog.upstreams.get('anthropic')).toMatchObject({
      dialect: 'messages',
      baseUrl: 'https://api.anthropic.com',
      profileName: 'anthropic',
    });
  });
});

describe('documents', () => {
  test.each(DOCUMENTS)('%s: every relative link leads to a file or a heading', (document) => {
    const text = withoutBlocks(read(document));
    const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
    const broken = targets.filter((target) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? document : join(dirname(document), path);
      if (!existsSync(join(root, file))) return true;
      return anchor !== undefined && !anchors(read(file)).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  test.each(DOCUMENTS)('%s: every path that is named exists', (document) => {
    const paths = [
      ...read(document).matchAll(/(?<![\w./-])(?:src|test|scripts|drizzle)\/[\w./-]*/g),
    ];
    const named = paths.map(([path]) => path.replace(/[./]+$/, ''));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test('src/README.md: every file that a table names by itself exists in its folder', () => {
    const rows = read('src/README.md').matchAll(/^\| `(\w+)\/` +\| ([^|]*) \|/gm);
    const named = [...rows].flatMap(([, folder = '', text = '']) =>
      [...text.matchAll(/`([\w/-]+\.ts)`/g)].map((match) => `src/${folder}/${match[1]}`),
    );
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test('src/README.md: every folder of src has its row', () => {
    const rows = [...read('src/README.md').matchAll(/^\| `(\w+)\/` +\|/gm)].map(
      (match) => match[1],
    );
    const folders = new Bun.Glob('*/*').scanSync({ cwd: join(root, 'src') });
    expect(rows.toSorted()).toEqual([...new Set([...folders].map(dirname))].toSorted());
  });

  test('src/README.md: every runtime dependency has its reason', () => {
    const rows = [...read('src/README.md').matchAll(/^\| `([@\w/-]*\w)` +\| \S/gm)];
    const named = rows.map((match) => match[1]);
    expect(named.toSorted()).toEqual(Object.keys(dependencies).toSorted());
  });

  test.each(DOCUMENTS)('%s: JSON blocks parse', (document) => {
    for (const block of blocks(read(document), 'json'))
      expect(() => JSON.parse(block)).not.toThrow();
  });
});

describe('README command line', () => {
  const leaves: string[] = [];
  const examples = blocksUnder('Command line', 'sh').join('\n');

  beforeAll(async () => leaves.push(...(await commands([]))));

  test('names every command', () => {
    const named = [...section('Command line').matchAll(/tollgate ([a-z]+(?: [a-z-]+)?)/g)];
    const words = new Set(named.flatMap(([, both = '']) => [both, both.split(' ')[0] ?? '']));
    expect(leaves.length).toBeGreaterThan(20);
    expect(leaves.filter((leaf) => !words.has(leaf))).toEqual([]);
  });

  test('has an example of every command but the server and what needs one', () => {
    const without = leaves.filter(
      (leaf) => !new RegExp(`^(?:echo .* \\| )?tollgate ${leaf}\\b`, 'm').test(examples),
    );
    expect(without.toSorted()).toEqual([
      'account second-factor-off',
      'catalog reload',
      'export',
      'import',
      'serve',
    ]);
  });
});

describe('README snippets', () => {
  let gateway: Gateway;
  let account: TestAccount;

  beforeAll(async () => {
    gateway = await startGateway();
    account = await gateway.createAccount({ plan: 'pro' });
  });

  afterAll(() => gateway[Symbol.asyncDispose]());

  const here = (text: string): string => text.replaceAll('http://127.0.0.1:3000', gateway.url);

  /** Runs a program on a snippet; a snippet that fails shows what it printed. */
  async function runSnippet(command: readonly string[], more: Record<string, string> = {}) {
    const child = Bun.spawn([...command], {
      cwd: gateway.directory,
      env: { PATH: process.env['PATH'] ?? '', PORT: '0', TOLLGATE_KEY: account.key, ...more },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { code: await child.exited, stdout, stderr };
  }

  const curls = blocks(readme, 'sh').filter((block) => /^curl /.test(block));

  test('curl: every body is JSON, to an endpoint of its format', () => {
    expect(curls).toHaveLength(4);
    for (const block of curls) {
      const body = JSON.parse(/-d '([^']*)'/.exec(block)?.[1] ?? '');
      expect(Object.keys(body).includes('max_tokens')).toBe(block.includes('/v1/messages'));
    }
  });

  test.skipIf(Bun.which('curl') === null)('curl: every line is answered', async () => {
    const failing = 'curl() { command curl --silent --show-error --fail "$@"; }\n';
    const results = await Promise.all(
      curls.map((block) => runSnippet(['sh', '-c', failing + here(block)])),
    );
    for (const { code, stdout, stderr } of results) {
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain('svc_tokens_debited');
    }
  });

  test('JavaScript: both libraries print an answer and two bills', async () => {
    const folder = join(gateway.directory, 'snippets');
    mkdirSync(folder);
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const snippets = blocksUnder('JavaScript', 'js');
    expect(snippets).toHaveLength(2);
    const results = await Promise.all(
      snippets.map(async (snippet, index) => {
        const path = join(folder, `snippet-${index}.mjs`);
        await Bun.write(path, here(snippet));
        return runSnippet([process.execPath, path]);
      }),
    );
    for (const { code, stdout, stderr } of results) {
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout.match(/^debited: [\d.]+$/gm)).toHaveLength(2);
      expect(stdout.match(/demonstration model/g)).toHaveLength(2);
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
    const copy = `examples-${crypto.randomUUID()}.db`;
    await gateway.run('backup', copy);
    await Bun.write(join(gateway.directory, 'next.toml'), DEMO_CATALOG);
    await Bun.write(join(gateway.directory, 'draft.toml'), DRAFT);
    const examples = blocksUnder('Command line', 'sh').join('\n');
    const lines =
      postgresUrl === undefined
        ? [examples]
        : [
            `DATABASE_URL=sqlite:./${copy} tollgate export ${copy}.gz`,
            `tollgate import ${copy}.gz`,
            // A copy of PostgreSQL is made by its own tools.
            examples.replace(/^tollgate backup .*$/m, ''),
          ];
    const script = ['set -e', `tollgate() { ${FORWARD}; }`, ...lines].join('\n');
    return runSnippet(['sh', '-c', script], {
      DATABASE_URL: postgresUrl ?? `sqlite:./${copy}`,
      KEY: account.key,
      CODE: redeemed?.code ?? '',
      CODE_ID: revoked?.id ?? '',
      MODEL: 'demo-chat',
      REQUEST_ID: headers.get('x-request-id') ?? '',
      FILE: `copy-of-${copy}`,
      RECEIPTS: `${copy}.jsonl`,
      NEXT_CATALOG: 'next.toml',
      // What is published is written into a catalog file, and the server has none.
      CATALOG: 'next.toml',
      DRAFT: 'draft.toml',
      INVITE: invitation.id,
      PASSWORD: 'a password of some length',
      UPSTREAM: 'demo',
    });
  }

  // A process for each of them, on a machine that is busy with other things.
  test('the commands of the command line section work, one after the other', async () => {
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
    const other = await gateway.createAccount({ plan: 'pro' });
    const keys = (await get(other, '/v1/api-keys')).json['data'];
    const shown = ['Account', 'API key', 'Model'].map((heading) => shownUnder(heading)[0]);
    expect(shown.map(shape)).toEqual([
      shape((await get(other, '/v1/account')).json),
      shape(Array.isArray(keys) ? keys[0] : undefined),
      shape((await get(other, '/v1/models/demo-chat')).json),
    ]);
  });

  test('the bills have the members that are shown', async () => {
    const other = await gateway.createAccount({ plan: 'pro' });
    const chat = await generateStream(other, 'chat', 'demo-chat');
    const messages = await generateStream(other, 'messages', 'demo-chat');
    const delta = messages.events.find((event) => event.event === 'message_delta');
    expect(shownUnder('The bill').map(shape)).toEqual([
      shape(chat.events.at(-2)?.json),
      shape(delta?.json),
    ]);
  });
});

/** The body of a shell function that hands its arguments to the gateway's command line. */
const FORWARD = `${gatewayCommand()
  .map((part) => `'${part}'`)
  .join(' ')} "$@"`;

/** Every command that does something, such as `account create`, from the help texts alone. */
async function commands(path: readonly string[]): Promise<string[]> {
  const child = Bun.spawn([...gatewayCommand(), ...path, '--help'], { stdout: 'pipe' });
  const [usage = '', list = ''] = (await child.stdout.text()).split('\nCommands:\n');
  const names = [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map((match) => match[1] ?? '');
  // An unknown name is answered with the help of its group, which would be walked for ever.
  if (path.length > 2) throw new Error(`there is no command ${path.join(' ')}`);
  const below = await Promise.all(names.map((name) => commands([...path, name])));
  // A group has no option but help; `models` is a command and a group at once.
  const own = path.length > 0 && usage.includes('--json') ? [path.join(' ')] : [];
  return [...own, ...below.flat()];
}

function read(document: string): string {
  return readFileSync(join(root, document), 'utf8');
}

/** From a heading of any level to the next one of that level or above. */
function section(heading: string, text = readme): string {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.endsWith(` ${heading}`));
  if (start === -1) throw new Error(`there is no heading ${heading}`);
  const level = lines[start]?.indexOf(' ') ?? 0;
  const end = lines.findIndex((line, at) => {
    return at > start && /^#+ /.test(line) && line.indexOf(' ') <= level;
  });
  return lines.slice(start, end === -1 ? lines.length : end).join('\n');
}

/** The code blocks of a language, without their fences. */
function blocks(text: string, language: string): string[] {
  const fenced = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  return [...text.matchAll(fenced)].map((match) => match[1] ?? '');
}

function blocksUnder(heading: string, language: string): string[] {
  return blocks(section(heading), language);
}

function shownUnder(heading: string): unknown[] {
  return blocksUnder(heading, 'json').map((block) => JSON.parse(block));
}

function withoutBlocks(text: string): string {
  return text.replace(/^```[\s\S]*?^```$/gm, '');
}

/** The rows of a section's tables, headers left out, each cell without its code marks. */
function tableUnder(heading: string): string[][] {
  const lines = section(heading)
    .split('\n')
    .filter((line) => line.startsWith('|'));
  return lines
    .filter((line, at) => !line.startsWith('|---') && lines[at + 1]?.startsWith('|---') !== true)
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')),
    );
}

/** The names that links to the headings of a document have. */
function anchors(text: string): string[] {
  const headings = withoutBlocks(text).matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** The members of a value, at all depths; what is in them does not count. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return 'a list';
  if (typeof value !== 'object' || value === null) return 'a value';
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shape(member)]));
}

function grouped(value: number): string {
  return value.toLocaleString('en-US');
}
