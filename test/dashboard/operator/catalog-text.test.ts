// The catalog's text edited through the console, by hand and by forms: what the file says afterwards,
// what is refused, and that no literal key and no variable leaves the server.

import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { eq } from 'drizzle-orm';
import { wordsOf } from '../../../src/core/sentence.ts';
import type {
  CatalogEntry,
  CatalogTextRecord,
  EntryEditRecord,
  EntryRecord,
  PlansRecord,
  PublishedRecord,
  TextCheckRecord,
  UpstreamTestRecord,
} from '../../../src/dashboard/records/operator-catalog.ts';
import { accounts } from '../../../src/store/tables.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { CATALOG, openMachineConsole, SECRETS } from './server-console.ts';

type Kind = 'model' | 'upstream' | 'plan';

const MARK = '<kept far api_keys[1]>';

describeOnEachDatabase("the catalog's text", async () => {
  const root = temporaryDirectory();
  const open = await openMachineConsole(root);
  const builtIn = await openMachineConsole(root, { file: false });
  afterAll(async () => {
    await open.close();
    await builtIn.close();
  });
  afterEach(async () => {
    open.write(CATALOG);
    await open.post('/catalog/reload');
  });

  const shown = () => open.get<CatalogTextRecord>('/catalog/text');
  /** With its sentences in English. */
  const check = async (text: string) => {
    const checked = (await open.post('/catalog/text/check', { text })).json as TextCheckRecord;
    return {
      ...checked,
      problems: checked.problems.map((each) => ({ ...each, text: wordsOf(each.text) })),
      warnings: checked.warnings.map(wordsOf),
      standing: checked.standing.map(wordsOf),
      summary: checked.summary.map(wordsOf),
    };
  };
  const publish = async (text: string) => {
    const { based_on } = await shown();
    const answer = await open.post('/catalog/text/publish', { text, based_on });
    return { ...answer, published: answer.json as PublishedRecord };
  };
  const refusal = async (text: string) => {
    const { status, json } = await publish(text);
    return [status, (json['error'] as { code?: string } | undefined)?.code];
  };
  const file = () => readFileSync(open.path, 'utf8');
  /** The draft with some text replaced. */
  const changed = async (from: string, to: string) => {
    const { text } = await shown();
    expect(text).toContain(from);
    return text.replace(from, () => to);
  };
  const form = async (kind: Kind, id: string | null, text?: string) => {
    const body = { text: text ?? (await shown()).text, kind, id };
    return (await open.post('/catalog/entry', body)).json as EntryRecord;
  };
  const edit = async (kind: Kind, id: string | null, entry: CatalogEntry | null) => {
    const body = { text: (await shown()).text, kind, id, entry };
    return (await open.post('/catalog/entry/edit', body)).json as EntryEditRecord;
  };

  test('a warning of the active catalog is apart from those that the draft brings', async () => {
    open.write(CATALOG.replace('output = "0.30"', 'output = "0.99"'));
    await open.post('/catalog/reload');
    const known = 'swift-1: the current price is below the cost of demo: output 0.6 (costs 0.99)';
    const other = await check(await changed('max_output = 100', 'max_output = 200'));
    expect(other).toMatchObject({ ok: true, warnings: [], standing: [known] });
    const dearer = 'model = "z", cost = { input = "0.01", output = "0.30" }';
    const draft = await check(await changed('model = "z"', dearer));
    const brought = 'swift-0: the current price is below the cost of far: output 0.2 (costs 0.3)';
    expect(draft).toMatchObject({ ok: true, warnings: [brought], standing: [known] });
    const mended = await check(await changed('output = "0.99"', 'output = "0.30"'));
    expect(mended).toMatchObject({ ok: true, warnings: [], standing: [] });
  });

  test('one number: the line differs, the server uses it, the trail has it', async () => {
    const draft = await changed('max_output = 100', 'max_output = 200');
    const checked = await check(draft);
    expect(checked).toMatchObject({ ok: true, problems: [] });
    expect(checked.summary).toEqual(['model swift-1 changed']);
    expect(checked.difference.map(({ kind, text }) => [kind, text])).toEqual([
      ['gap', ''],
      ['same', 'slug = "swift-1"'],
      ['same', 'aliases = ["swift"]'],
      ['same', 'context_window = 1000'],
      ['removed', 'max_output = 100'],
      ['added', 'max_output = 200'],
      ['same', 'price = { input = "0.15", output = "0.60" }'],
      expect.anything(),
      ['same', ''],
      ['gap', ''],
    ]);
    expect(file()).toBe(CATALOG);
    const { published } = await publish(draft);
    expect(published).toMatchObject({ in_force: true, problems: [], path: open.path });
    expect(file()).toBe(CATALOG.replace('max_output = 100', 'max_output = 200'));
    expect(open.live.current().resolve('swift-1')?.maxOutput).toBe(200);
    const event = (await open.events()).findLast(({ action }) => action === 'catalog.edited');
    expect([event?.subject, JSON.parse(event?.detail ?? '')]).toEqual([
      'swift-1',
      {
        summary: 'model swift-1 changed',
        difference: '- max_output = 100\n+ max_output = 200',
        digest: published.digest,
      },
    ]);
  });

  test('mistakes have their line and column, and nothing is written', async () => {
    const draft = (await changed('max_output = 100', 'max_output = 5000')).replace(
      'upstream = "far", model = "y"',
      'upstream = "far", model = "y", weight = 0',
    );
    const { ok, problems } = await check(draft);
    expect(ok).toBe(false);
    const at = (line: string) => draft.split('\n').findIndex((each) => each.startsWith(line)) + 1;
    expect(problems).toMatchObject([
      { path: 'model[0].max_output', line: at('max_output'), column: 14 },
      { path: 'model[0].served_by[1].weight', line: at('served_by') },
    ]);
    expect(await refusal(draft)).toEqual([400, 'invalid_catalog']);
    expect(await refusal((await shown()).text)).toEqual([400, 'invalid_catalog']);
    const broken = await check(draft.replace('max_output = 5000', 'max_output = '));
    expect(broken.problems).toMatchObject([{ line: at('max_output') }]);
    const missing = await check(draft.replace('max_output = 5000\n', ''));
    expect(missing.problems[0]).toMatchObject({
      path: 'model[0].max_output',
      text: expect.stringContaining('is missing'),
      line: draft.slice(0, draft.indexOf('[[model]]')).split('\n').length,
      column: 1,
    });
    expect(file()).toBe(CATALOG);
  });

  test('a file that changed is not written; both changes are merged', async () => {
    const { text, based_on } = await shown();
    const draft = text.replace('max_output = 100', 'max_output = 200');
    open.write(CATALOG.replace('usd_per_million = "2.00"', 'usd_per_million = "3.00"'));
    expect(await open.refusal('POST', '/catalog/text/publish', { text: draft, based_on })).toEqual([
      409,
      'catalog_changed',
    ]);
    expect(file()).toContain('"3.00"');
    const { json } = await open.post('/catalog/text/merge', { base: text, text: draft });
    const merged = json as CatalogTextRecord & { readonly merged: string };
    expect([merged.text, merged.merged]).toEqual([
      text.replace('2.00', '3.00'),
      draft.replace('2.00', '3.00'),
    ]);
    expect((await publish(merged.merged)).published.in_force).toBe(true);
  });

  test('the last publication can be undone, with the keys that it removed', async () => {
    const draft = await changed(`"\${FAR_KEY}", "${MARK}"`, `"\${FAR_KEY}"`);
    await publish(draft);
    expect(file()).not.toContain('second-secret');
    const { previous } = await shown();
    expect(previous).toContain(MARK);
    expect(previous).not.toContain('second-secret');
    expect((await publish(previous ?? '')).published.in_force).toBe(true);
    expect(file()).toBe(CATALOG);
  });

  test('a file with the line ends of Windows keeps them', async () => {
    open.write(CATALOG.replaceAll('\n', '\r\n'));
    const typed = (await changed('max_output = 100', 'max_output = 200')).replaceAll('\r\n', '\n');
    expect((await check(typed)).difference.filter(({ kind }) => kind === 'added')).toHaveLength(1);
    await publish(typed);
    expect(file()).toBe(
      CATALOG.replace('max_output = 100', 'max_output = 200').replaceAll('\n', '\r\n'),
    );
  });

  test('a plan with accounts stays', async () => {
    const limits = 'requests_per_minute = 5\ntokens_per_minute = 6\nconcurrent_requests = 1\n';
    const plan = `\n[plan.team]\n${limits}max_context = 5\nmax_api_keys = 2\n`;
    await publish(`${(await shown()).text}${plan}`);
    const account = { email: 'team@example.com', plan: 'pro', emailVerified: true };
    const { id } = await open.store.accounts.create(account, 'operator');
    const { db } = open.store.database;
    await db.update(accounts).set({ plan: 'team' }).where(eq(accounts.id, id)).run();
    const { plans } = await open.get<PlansRecord>('/catalog/plans');
    expect(plans.find((each) => each.id === 'team')).toMatchObject({ in_file: true, accounts: 1 });
    expect((await shown()).text).toContain('max_api_keys = 2');
    const { text } = await edit('plan', 'team', null);
    expect(text).not.toContain('team');
    expect((await check(text)).problems[0]?.text).toStartWith('is the plan of 1 accounts');
    await db.update(accounts).set({ plan: 'pro' }).where(eq(accounts.id, id)).run();
  });

  describe('forms', () => {
    test('change their own table of the text', async () => {
      const { entry } = await form('model', 'swift-1');
      const { text, path } = await edit('model', 'swift-1', { ...entry, max_output: 200 });
      expect([text, path]).toEqual([
        await changed('max_output = 100', 'max_output = 200'),
        'model[0]',
      ]);
      const added = await edit('model', null, {
        ...{ max_output: 10, context_window: 100, price: { output: '2', input: '1' } },
        ...{ served_by: [{ upstream: 'demo', model: 'z' }], slug: 'new-1' },
      });
      expect(added.text).toBe(`${(await shown()).text}
[[model]]
slug = "new-1"
context_window = 100
max_output = 10
price = { output = "2", input = "1" }
served_by = [{ upstream = "demo", model = "z" }]
`);
      const again = { text: added.text, kind: 'model', id: null, entry: { slug: 'new-1' } };
      expect(await open.refusal('POST', '/catalog/entry/edit', again)).toEqual([
        409,
        'entry_exists',
      ]);
      for (const odd of [{ slug: null }, { slug: [[[[[[[[[[]]]]]]]]]] }]) {
        expect(await open.refusal('POST', '/catalog/entry/edit', { ...again, entry: odd })).toEqual(
          [400, 'invalid_request'],
        );
      }
      expect(file()).toBe(CATALOG);
    });

    test('give a built-in plan an entry that changes one limit', async () => {
      const { entry, defaults } = await form('plan', 'pro');
      expect([entry, defaults]).toEqual([null, expect.objectContaining({ models: ['*'] })]);
      const { text } = await edit('plan', 'pro', { slug: 'pro', max_api_keys: 3 });
      expect((await publish(text)).published.in_force).toBe(true);
      expect(file()).toBe(`${CATALOG}\n[plan.pro]\nmax_api_keys = 3\n`);
      expect(open.live.current().plans.get('pro')?.maxApiKeys).toBe(3);
      expect((await publish((await edit('plan', 'pro', null)).text)).published.in_force).toBe(true);
      expect(file()).toBe(CATALOG);
    });

    test('say what the text does not have', async () => {
      const { text } = await shown();
      const body = { text, kind: 'model', id: 'gone' };
      expect(await open.refusal('POST', '/catalog/entry', body)).toEqual([404, 'not_found']);
      const odd = { ...body, text: `${text}[` };
      expect(await open.refusal('POST', '/catalog/entry', odd)).toEqual([400, 'invalid_request']);
    });
  });

  describe('secrets', () => {
    test('a literal key is a mark in the text, and stays in the file', async () => {
      const record = await shown();
      expect(record.text).toContain(`api_keys = ["\${FAR_KEY}", "${MARK}"]`);
      const draft = record.text.replace(
        `"\${FAR_KEY}", "${MARK}"]`,
        `"${MARK}"]\nmax_in_flight = 7`,
      );
      const answers = [
        JSON.stringify(record),
        (await open.post('/catalog/text/check', { text: draft })).text,
        (await publish(draft)).text,
        JSON.stringify(await open.events()),
      ];
      for (const secret of SECRETS) expect(answers.join()).not.toContain(secret);
      expect(answers[1]).toContain('••••');
      expect(file()).toBe(
        CATALOG.replace(
          `api_keys = ["\${FAR_KEY}", "second-secret"]`,
          `api_keys = ["second-secret"]\nmax_in_flight = 7`,
        ),
      );
    });

    test('a copy keeps the keys of its original, at its address', async () => {
      const { entry } = await form('upstream', 'far');
      const { text } = await edit('upstream', null, { ...entry, id: 'copy' });
      expect((await publish(text)).published.in_force).toBe(true);
      const keys = open.live.current().upstreams.get('copy')?.credentials;
      expect(keys?.map(({ apiKey }) => apiKey)).toEqual(SECRETS);
    });

    test('keys in comments are hidden and stay', async () => {
      const comment = '# old: sk-0123456789abcdef0123, a/plain/path-1234567890\n';
      const withComment = CATALOG.replace('api_keys', `${comment}api_keys`);
      open.write(withComment);
      const { text } = await shown();
      expect(text).toContain('# old: <kept comment 1>, <kept comment 2>\n');
      const draft = text.replace('api_keys', 'max_in_flight = 7\napi_keys');
      expect(JSON.stringify(await check(draft))).toContain('# old: ••••');
      const { published } = await publish(draft);
      expect(published.in_force).toBe(true);
      expect(file()).toBe(withComment.replace('api_keys', 'max_in_flight = 7\napi_keys'));
      expect(JSON.stringify(await open.events())).not.toContain('0123456789');
    });

    const CLOUDS = `${CATALOG}
[[upstream]]
id = "bedrock"
dialect = "messages"
base_url = "http://127.0.0.1:9/anthropic"
aws = { region = "us-east-1", access_key_id = "AKIALITERAL", secret_access_key = "literal-secret", session_token = "\${FAR_KEY}" }

[[upstream]]
id = "vertex"
dialect = "messages"
base_url = "http://127.0.0.1:9/models"
google = {}
`;

    test('literal keys of AWS are marks, and stay in the file', async () => {
      open.write(CLOUDS);
      const { text } = await shown();
      const draft = text.replace('us-east-1', 'eu-west-1').replace(/, session_token.*}/, ' }');
      const answers = [text, (await open.post('/catalog/text/check', { text: draft })).text];
      answers.push((await publish(draft)).text, JSON.stringify(await open.events()));
      for (const secret of ['AKIALITERAL', 'literal-secret', ...SECRETS]) {
        expect(answers.join()).not.toContain(secret);
      }
      expect(file()).toContain(
        'aws = { region = "eu-west-1", access_key_id = "AKIALITERAL", secret_access_key = "literal-secret" }',
      );
    });

    const KEYS = `["\${FAR_KEY}", "${MARK}"]`;
    const FAR = 'http://127.0.0.1:9/v1';
    test.each<[string, readonly [string, string], string, string]>([
      ['a literal key', [KEYS, '["sk-live-1"]'], 'api_keys[0]', 'must be a reference'],
      [
        'a setting of the server',
        [KEYS, `["\${DATABASE_URL}"]`],
        'api_keys[0]',
        'must not refer to a setting',
      ],
      [
        'a variable that is not set',
        [KEYS, `["\${GONE}"]`],
        'api_keys[0]',
        'needs the variable GONE',
      ],
      [
        'a variable in an address',
        [FAR, `http://evil.example/\${FAR_KEY}/v1`],
        'base_url',
        'must not refer to a variable',
      ],
      [
        'a password',
        [KEYS, '[]\nproxy = "http://me:secret@proxy.example:1"'],
        'proxy',
        'must be a reference',
      ],
      [
        'a key of the file for another address',
        [FAR, 'http://evil.example/v1'],
        'api_keys[1]',
        'must be set again',
      ],
      [
        'a key of the file through another proxy',
        [KEYS, `${KEYS}\nproxy = "http://evil.example:1"`],
        'api_keys[1]',
        'must be set again',
      ],
      ['a part of a key', [MARK, `x${MARK}`], 'api_keys[1]', 'is not a hidden key'],
      [
        'a literal key of AWS',
        ['"<kept bedrock aws.secret_access_key>"', '"plain"'],
        'aws.secret_access_key',
        'must be a reference',
      ],
      [
        'keys of AWS for another address',
        ['9/anthropic', '9/evil'],
        'aws.access_key_id',
        'must be set again',
      ],
      [
        'a key in the place of another one',
        ['aws.secret_access_key>', 'aws.access_key_id>'],
        'aws.secret_access_key',
        'must be set again',
      ],
      [
        'a Google account for another address',
        ['9/models', '9/evil'],
        'google',
        'must be changed in the catalog file',
      ],
      [
        'another Google account',
        ['google = {}', 'google = { credentials_file = "other.json" }'],
        'google',
        'must be changed in the catalog file',
      ],
    ])('refuses %s', async (_, [from, to], member, words) => {
      open.write(CLOUDS);
      const draft = await changed(from, to);
      const { ok, problems } = await check(draft);
      expect(ok).toBe(false);
      const found = problems.find(({ path }) => path.endsWith(`.${member}`));
      expect(found?.text).toStartWith(words);
      expect(found?.line).toBeGreaterThan(1);
      expect(await refusal(draft)).toEqual([400, 'invalid_catalog']);
      const test = { text: draft, upstream: 'far', model: 'x' };
      const tested = (await open.post('/catalog/text/test', test)).json as UpstreamTestRecord;
      expect([tested.results, open.tested]).toEqual([[], []]);
      expect(file()).toBe(CLOUDS);
    });

    test.each([
      ['a variable', `\${FAR_KEY}`],
      ['a key of the file', MARK],
      ['a word of a comment', '<kept comment 1>'],
    ])('%s is not shown through the description of a model', async (_, description) => {
      open.write(`# sk-0123456789abcdef0123\n${CATALOG}`);
      const draft = await changed(
        'slug = "swift-1"',
        `slug = "swift-1"\ndescription = "${description}"`,
      );
      const { problems } = await check(draft);
      expect(problems.map(({ path }) => path)).toEqual(['model[0].description']);
    });

    test('a key of the file does not come to light in a comment', async () => {
      const draft = `${(await shown()).text}# ${MARK}\n`;
      await publish(draft);
      expect(file()).toBe(`${CATALOG}# ${MARK}\n`);
    });
  });

  test('an upstream is tested with each of its keys before it is published', async () => {
    const results = ['1', '2'].map((credential, index) => ({
      ...{ credential, feature: 'text' as const, stream: false, duration_ms: 1 },
      ...{ ok: index === 0, detail: null, usage: null, first_content_ms: null },
    }));
    open.endTests(results);
    const text = await changed('id = "far"', 'id = "far"\nmax_in_flight = 7');
    const body = { text, upstream: 'far', model: 'gpt' };
    expect((await open.post('/catalog/text/test', body)).json).toEqual({ problems: [], results });
    const [tested] = open.tested;
    expect(tested?.upstreamModel).toBe('gpt');
    expect(tested?.upstream.credentials.map(({ apiKey }) => apiKey)).toEqual([...SECRETS]);
    expect(tested?.upstream.concurrency.maxInFlight).toBe(7);
    const event = (await open.events()).findLast(({ action }) => action === 'upstream.tested');
    expect(JSON.parse(event?.detail ?? '')).toEqual({
      base_url: 'http://127.0.0.1:9/v1',
      succeeded: 1,
      failed: 1,
    });
    open.forgetProof();
    expect(await open.refusal('POST', '/catalog/text/test', body)).toEqual([
      403,
      'step_up_required',
    ]);
  });

  test('the built-in catalog is shown, and says that it has no file', async () => {
    const { text, file: state, based_on } = await builtIn.get<CatalogTextRecord>('/catalog/text');
    expect(state.not_writable?.text).toStartWith('The built-in demonstration catalog');
    const draft = text.replace('max_output = 8192', 'max_output = 5');
    const checked = await builtIn.post('/catalog/text/check', { text: draft });
    expect(checked.json).toMatchObject({
      ok: true,
      summary: [{ text: '{kind} {id} changed', values: { id: 'demo-chat' } }],
    });
    expect(
      await builtIn.refusal('POST', '/catalog/text/publish', { text: draft, based_on }),
    ).toEqual([409, 'catalog_not_writable']);
  });
});
