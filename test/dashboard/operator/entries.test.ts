// Models, upstreams and plans edited through the console: what the file says afterwards, what is
// refused, and that no literal key and no variable leaves the server.

import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { eq } from 'drizzle-orm';
import type { PublishedRecord } from '../../../src/dashboard/records/operator-catalog.ts';
import type {
  CatalogEntry,
  EntryCheckRecord,
  EntryRecord,
  PlansRecord,
  UpstreamTestRecord,
} from '../../../src/dashboard/records/operator-entries.ts';
import { accounts } from '../../../src/store/tables.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { CATALOG, openMachineConsole, SECRETS } from './server-console.ts';

type Draft = {
  readonly kind: 'model' | 'upstream' | 'plan';
  readonly id: string | null;
  readonly entry: CatalogEntry | null;
  readonly from?: string;
};

describeOnEachDatabase('forms for the catalog', async () => {
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

  const form = (kind: string, id: string) =>
    open.get<EntryRecord>(`/catalog/entries/${kind}?id=${id}`);
  const check = async (draft: Draft) =>
    (await open.post('/catalog/entries/check', draft)).json as EntryCheckRecord;
  const digest = async () => (await open.get<EntryRecord>('/catalog/entries/model')).file.digest;
  const publish = async (draft: Draft) => {
    const answer = await open.post('/catalog/entries/publish', {
      ...draft,
      based_on: await digest(),
    });
    return { ...answer, published: answer.json as PublishedRecord };
  };
  const refusal = async (draft: Draft) => {
    const { status, json } = await publish(draft);
    return [status, (json['error'] as { code?: string } | undefined)?.code];
  };
  const text = () => readFileSync(open.path, 'utf8');
  const entryOf = async (kind: string, id: string) => (await form(kind, id)).entry ?? {};

  test('one number of a model: the line differs, the server uses it, the trail has it', async () => {
    const entry = await entryOf('model', 'swift-1');
    const draft: Draft = {
      kind: 'model',
      id: 'swift-1',
      entry: { ...entry, max_output: 200 },
    };
    const checked = await check(draft);
    expect(checked).toMatchObject({ ok: true, problems: [], elsewhere: [] });
    expect(checked.summary).toEqual(['swift-1: max_output 100 → 200']);
    expect(checked.difference.map(({ kind, text: line }) => [kind, line])).toEqual([
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
    expect(text()).toBe(CATALOG);
    const { published } = await publish(draft);
    expect(published).toMatchObject({ in_force: true, problems: [], path: open.path });
    expect(text()).toBe(CATALOG.replace('max_output = 100', 'max_output = 200'));
    expect(open.live.current().resolve('swift-1')?.maxOutput).toBe(200);
    const event = (await open.events()).findLast(({ action }) => action === 'catalog.edited');
    expect([event?.subject, JSON.parse(event?.detail ?? '')]).toEqual([
      'swift-1',
      {
        kind: 'model',
        change: 'changed',
        summary: 'swift-1: max_output 100 → 200',
        difference: '- max_output = 100\n+ max_output = 200',
        digest: published.digest,
      },
    ]);
  });

  test('a mistake stands beside its field, and nothing is written', async () => {
    const entry = await entryOf('model', 'swift-1');
    const wrong = {
      ...entry,
      max_output: 5_000,
      served_by: [{ upstream: 'fra', model: 'y', weight: 0 }],
      aliases: ['swift-0'],
      fallbacks: ['swift-1'],
    };
    const checked = await check({ kind: 'model', id: 'swift-1', entry: wrong });
    expect([checked.ok, checked.difference]).toEqual([false, []]);
    expect(checked.problems).toEqual([
      { path: 'served_by[0].weight', text: 'must be a number above 0, at most 1,000,000' },
      { path: 'max_output', text: 'must not be above context_window' },
      { path: 'fallbacks[0]', text: 'must not be the model itself' },
    ]);
    expect(checked.elsewhere).toEqual(['model[1].slug: is the same name as model[0].aliases[0]']);
    expect(await refusal({ kind: 'model', id: 'swift-1', entry: wrong })).toEqual([
      400,
      'invalid_entry',
    ]);
    expect(await refusal({ kind: 'model', id: 'swift-1', entry })).toEqual([400, 'invalid_entry']);
    const renamed = await check({ kind: 'model', id: 'swift-1', entry: { ...entry, slug: 'x' } });
    expect(renamed.problems).toEqual([
      { path: 'slug', text: 'must not change; duplicate the entry instead' },
    ]);
    for (const odd of [{ slug: null }, { slug: [[[[[[[[[[]]]]]]]]]] }]) {
      expect(
        await open.refusal('POST', '/catalog/entries/check', {
          kind: 'model',
          id: null,
          entry: odd,
        }),
      ).toEqual([400, 'invalid_request']);
    }
    expect(text()).toBe(CATALOG);
  });

  test('a file that changed since it was read is not written', async () => {
    const entry = await entryOf('model', 'swift-1');
    const basedOn = await digest();
    open.write(`${CATALOG}# changed\n`);
    const draft = { kind: 'model', id: 'swift-1', entry: { ...entry, max_output: 200 } };
    expect(
      await open.refusal('POST', '/catalog/entries/publish', { ...draft, based_on: basedOn }),
    ).toEqual([409, 'catalog_changed']);
    expect(text()).toBe(`${CATALOG}# changed\n`);
  });

  test('a new model with its plan, and gone again: nothing else moves', async () => {
    const model: Draft = {
      kind: 'model',
      id: null,
      entry: {
        max_output: 10,
        context_window: 100,
        price: { output: '2', input: '1' },
        served_by: [{ upstream: 'demo', model: 'z' }],
        slug: 'new-1',
      },
    };
    expect((await publish(model)).published.in_force).toBe(true);
    expect(text()).toBe(`${CATALOG}
[[model]]
slug = "new-1"
context_window = 100
max_output = 10
price = { output = "2", input = "1" }
served_by = [{ upstream = "demo", model = "z" }]
`);
    expect(await refusal(model)).toEqual([409, 'entry_exists']);
    const plan: Draft = {
      kind: 'plan',
      id: null,
      entry: {
        ...{ slug: 'team', models: ['new-1'], max_context: 5, max_api_keys: 2 },
        ...{ requests_per_minute: 5, tokens_per_minute: 6, concurrent_requests: 1 },
      },
    };
    expect((await publish(plan)).published.in_force).toBe(true);
    expect(open.live.current().plans.get('team')?.models).toEqual(['new-1']);
    const { plans } = await open.get<PlansRecord>('/catalog/plans');
    expect(plans.find(({ id }) => id === 'team')).toMatchObject({ in_file: true, accounts: 0 });

    const used = await open.post('/catalog/entries/check', {
      kind: 'model',
      id: 'new-1',
      entry: null,
    });
    expect([used.status, used.text]).toEqual([
      409,
      expect.stringContaining('models of the plan team'),
    ]);
    const account = { email: 'team@example.com', plan: 'pro', emailVerified: true };
    const { id } = await open.store.accounts.create(account, 'operator');
    const { db } = open.store.database;
    await db.update(accounts).set({ plan: 'team' }).where(eq(accounts.id, id)).run();
    const onPlan = await open.post('/catalog/entries/check', { ...plan, id: 'team', entry: null });
    expect([onPlan.status, onPlan.text]).toEqual([
      409,
      expect.stringContaining('the plan of 1 accounts'),
    ]);
    expect(await refusal({ kind: 'upstream', id: 'far', entry: null })).toEqual([
      409,
      'entry_in_use',
    ]);
    expect(await refusal({ kind: 'upstream', id: 'gone', entry: null })).toEqual([
      404,
      'entry_not_found',
    ]);
  });

  test('a built-in plan gets an entry that changes one limit, and loses it again', async () => {
    const { entry, defaults } = await form('plan', 'pro');
    expect([entry, defaults]).toEqual([null, expect.objectContaining({ models: ['*'] })]);
    const draft: Draft = { kind: 'plan', id: 'pro', entry: { slug: 'pro', max_api_keys: 3 } };
    expect((await publish(draft)).published.in_force).toBe(true);
    expect(text()).toBe(`${CATALOG}\n[plan.pro]\nmax_api_keys = 3\n`);
    expect(open.live.current().plans.get('pro')?.maxApiKeys).toBe(3);
    expect((await publish({ ...draft, entry: null })).published.in_force).toBe(true);
    expect(text()).toBe(CATALOG);
  });

  describe('secrets', () => {
    test('a literal key is a mark in the form, and stays in the file', async () => {
      const record = await form('upstream', 'far');
      expect(record.entry?.['api_keys']).toEqual([`\${FAR_KEY}`, '<kept 2>']);
      expect(record.variables).toEqual([{ name: 'FAR_KEY', is_set: true }]);
      const draft: Draft = {
        kind: 'upstream',
        id: 'far',
        entry: { ...record.entry, max_in_flight: 7, api_keys: ['<kept 2>'] },
      };
      const answers = [
        JSON.stringify(record),
        (await open.post('/catalog/entries/check', draft)).text,
        (await publish(draft)).text,
        JSON.stringify(await open.events()),
      ];
      for (const secret of SECRETS) expect(answers.join()).not.toContain(secret);
      expect(answers[1]).toContain('••••');
      expect(text()).toBe(
        CATALOG.replace(
          `api_keys = ["\${FAR_KEY}", "second-secret"]`,
          `api_keys = ["second-secret"]\nmax_in_flight = 7`,
        ),
      );
    });

    test('a copy keeps the keys of its original', async () => {
      const { entry } = await form('upstream', 'far');
      const draft: Draft = {
        kind: 'upstream',
        id: null,
        entry: { ...entry, id: 'copy' },
        from: 'far',
      };
      expect((await publish(draft)).published.in_force).toBe(true);
      const keys = open.live.current().upstreams.get('copy')?.credentials;
      expect(keys?.map(({ apiKey }) => apiKey)).toEqual(SECRETS);
      const { from: _, ...alone } = { ...draft, entry: { ...entry, id: 'other' } };
      expect((await check(alone)).problems[0]?.path).toBe('api_keys[1]');
    });

    describe('of clouds', () => {
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
      const AWS = { access_key_id: '<kept 1>', secret_access_key: '<kept 1>' };

      test('literal keys of AWS are marks in the form, and stay in the file', async () => {
        open.write(CLOUDS);
        const record = await form('upstream', 'bedrock');
        const session_token = `\${FAR_KEY}`;
        expect(record.entry?.['aws']).toEqual({ region: 'us-east-1', ...AWS, session_token });
        expect(record.variables).toEqual([{ name: 'FAR_KEY', is_set: true }]);
        const aws = { region: 'eu-west-1', ...AWS };
        const draft: Draft = {
          ...{ kind: 'upstream', id: 'bedrock' },
          entry: { ...record.entry, aws },
        };
        const shown = [
          JSON.stringify(record),
          (await open.post('/catalog/entries/check', draft)).text,
          (await publish(draft)).text,
          JSON.stringify(await open.events()),
        ].join();
        for (const secret of ['AKIALITERAL', 'literal-secret', ...SECRETS]) {
          expect(shown).not.toContain(secret);
        }
        expect(text()).toContain(
          'aws = { region = "eu-west-1", access_key_id = "AKIALITERAL", secret_access_key = "literal-secret" }',
        );
      });

      test.each<[string, string, CatalogEntry, string, string]>([
        [
          'a literal key of AWS',
          'bedrock',
          { aws: { region: 'r', ...AWS, secret_access_key: 'plain' } },
          'aws.secret_access_key',
          'must be a reference',
        ],
        [
          'keys of AWS for another address',
          'bedrock',
          { base_url: 'http://evil.example' },
          'aws.access_key_id',
          'must be set again',
        ],
        [
          'a Google account for another address',
          'vertex',
          { base_url: 'http://evil.example' },
          'google',
          'must be changed in the catalog file',
        ],
        [
          'a Google account through a proxy',
          'vertex',
          { proxy: 'http://evil.example:1' },
          'google',
          'must be changed in the catalog file',
        ],
        [
          'another Google account',
          'vertex',
          { google: { credentials_file: 'other.json' } },
          'google',
          'must be changed in the catalog file',
        ],
        [
          'a Google account for an upstream without one',
          'far',
          { google: {}, api_keys: [] },
          'google',
          'must be changed in the catalog file',
        ],
      ])('refuses %s', async (_, id, change, path, words) => {
        open.write(CLOUDS);
        const { entry } = await form('upstream', id);
        const draft: Draft = { kind: 'upstream', id, entry: { ...entry, ...change } };
        const { ok, problems } = await check(draft);
        expect(ok).toBe(false);
        expect(problems.find((problem) => problem.path === path)?.text).toStartWith(words);
        expect(await refusal(draft)).toEqual([400, 'invalid_entry']);
      });

      test('other members of an upstream at Google can be changed', async () => {
        open.write(CLOUDS);
        const { entry } = await form('upstream', 'vertex');
        const changed = { ...entry, max_in_flight: 7 };
        expect((await check({ kind: 'upstream', id: 'vertex', entry: changed })).ok).toBe(true);
      });
    });

    test.each<[string, CatalogEntry, string, string]>([
      ['a literal key', { api_keys: ['sk-live-1'] }, 'api_keys[0]', 'must be a reference'],
      [
        'a setting of the server',
        { api_keys: [`\${DATABASE_URL}`] },
        'api_keys[0]',
        'must not refer to a setting',
      ],
      [
        'a variable that is not set',
        { api_keys: [`\${GONE}`] },
        'api_keys[0]',
        'needs the variable GONE',
      ],
      [
        'a variable in an address',
        { base_url: `http://evil.example/\${FAR_KEY}/v1`, api_keys: [] },
        'base_url',
        'must not refer to a variable',
      ],
      ['a password', { proxy: 'http://me:secret@proxy.example:1' }, 'proxy', 'must be a reference'],
      [
        'a key of the file for another address',
        { base_url: 'http://evil.example/v1' },
        'api_keys[1]',
        'must be set again',
      ],
      [
        'a key of the file through another proxy',
        { proxy: 'http://evil.example:1' },
        'api_keys[1]',
        'must be set again',
      ],
    ])('refuses %s', async (_, change, path, words) => {
      const { entry } = await form('upstream', 'far');
      const draft: Draft = { kind: 'upstream', id: 'far', entry: { ...entry, ...change } };
      const { ok, problems } = await check(draft);
      expect(ok).toBe(false);
      expect(problems.find((problem) => problem.path === path)?.text).toStartWith(words);
      expect(await refusal(draft)).toEqual([400, 'invalid_entry']);
      const tested = await open.post('/catalog/entries/test', { ...draft, model: 'x' });
      expect((tested.json as unknown as UpstreamTestRecord).results).toEqual([]);
      expect(open.tested).toEqual([]);
    });

    test('a variable is not shown through the description of a model', async () => {
      const { entry } = await form('model', 'swift-1');
      const draft: Draft = {
        kind: 'model',
        id: 'swift-1',
        entry: { ...entry, description: `\${FAR_KEY}` },
      };
      expect((await check(draft)).problems[0]?.path).toBe('description');
    });

    test('keys in comments are not shown around a change', async () => {
      open.write(CATALOG.replace('api_keys', '# old: sk-0123456789abcdef0123\napi_keys'));
      const { entry } = await form('upstream', 'far');
      const { text: shown } = await open.post('/catalog/entries/check', {
        kind: 'upstream',
        id: 'far',
        entry: { ...entry, max_in_flight: 7 },
      });
      expect(shown).toContain('# old: ••••');
      expect(shown).not.toContain('0123456789');
    });
  });

  test('an upstream is tested with each of its keys before it is published', async () => {
    const { entry } = await form('upstream', 'far');
    const draft = { kind: 'upstream', id: 'far', entry: { ...entry, max_in_flight: 7 } };
    const results = ['1', '2'].map((credential, index) => ({
      ...{ credential, feature: 'text' as const, stream: false, duration_ms: 1 },
      ...{ ok: index === 0, detail: null, usage: null, first_content_ms: null },
    }));
    open.endTests(results);
    const { json } = await open.post('/catalog/entries/test', { ...draft, model: 'gpt' });
    expect(json).toEqual({ problems: [], results });
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
    expect(await open.refusal('POST', '/catalog/entries/test', { ...draft, model: '' })).toEqual([
      403,
      'step_up_required',
    ]);
  });

  test('the built-in catalog is shown, and says that it has no file', async () => {
    const record = await builtIn.get<EntryRecord>('/catalog/entries/model?id=demo-chat');
    expect(record.entry).toMatchObject({ slug: 'demo-chat', max_output: 8192 });
    expect(record.file.not_writable).toStartWith('The built-in demonstration catalog');
    const draft = {
      kind: 'model',
      id: 'demo-chat',
      entry: { ...record.entry, max_output: 5 },
    };
    const checked = await builtIn.post('/catalog/entries/check', draft);
    expect(checked.json).toMatchObject({ ok: true, summary: ['demo-chat: max_output 8192 → 5'] });
    expect(
      await builtIn.refusal('POST', '/catalog/entries/publish', {
        ...draft,
        based_on: record.file.digest,
      }),
    ).toEqual([409, 'catalog_not_writable']);
  });
});
