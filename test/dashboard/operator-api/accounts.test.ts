// The list of accounts in the operators' API: pages, filters, and 5,000 accounts.

import { afterAll, expect, test } from 'bun:test';
import { accounts } from '../../../src/store/tables.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { codeOf, openOperatorApi } from './api.ts';

type Row = {
  readonly id: string;
  readonly email: string;
  readonly plan: { readonly slug: string };
  readonly [name: string]: unknown;
};
type Page = { readonly data: readonly Row[]; readonly next: string | null };

describeOnEachDatabase('the list of accounts', async () => {
  const open = await openOperatorApi(temporaryDirectory());
  afterAll(open.close);

  const list = async (query: string): Promise<Page> =>
    (await open.call('GET', `/accounts?${query}`)).json as unknown as Page;
  const emailsOf = ({ data }: Page) => data.map(({ email }) => email);

  /** All pages, one after the other. */
  async function walk(query: string): Promise<Row[]> {
    const rows: Row[] = [];
    for (let after = ''; ; ) {
      const page = await list(`${query}${after}`);
      rows.push(...page.data);
      if (page.next === null) return rows;
      after = `&after=${page.next}`;
    }
  }

  test('has the same records as single accounts, newest first', async () => {
    const first = await open.account('first@example.org');
    const second = await open.account('second@example.org');
    const { data } = await list('limit=2');
    expect(data.map(({ id }) => id)).toEqual([second, first]);
    const { json } = await open.call('GET', `/accounts/${first}`);
    const { last_30_days: _month, last_active_at: _active, ...common } = data[1] as Row;
    expect(json).toMatchObject(common);
  });

  test('is filtered by address, id, plan, standing, block and verification', async () => {
    const { id } = await open.accounts.create(
      { email: 'lean@filter.example', plan: 'starter', emailVerified: false },
      'operator',
    );
    const blocked = await open.account('barred@filter.example');
    await open.blocks.add('account', blocked, { reason: 'test' }, 'operator');
    const lean = ['lean@filter.example'];
    const barred = ['barred@filter.example'];
    expect(emailsOf(await list('text=FILTER.example'))).toEqual([...barred, ...lean]);
    expect(emailsOf(await list(`text=${id.slice(0, 20)}`))).toEqual(lean);
    expect(emailsOf(await list('plan=starter'))).toEqual(lean);
    expect(emailsOf(await list('verified=no'))).toEqual(lean);
    expect(emailsOf(await list('standing=blocked'))).toEqual(barred);
    expect(emailsOf(await list('standing=blocked&plan=starter'))).toEqual([]);
    const [listed] = (await list('standing=blocked')).data;
    expect(listed).toMatchObject({ standing: 'blocked', standing_without_block: 'active' });
    expect(emailsOf(await list('standing=active&text=filter.example'))).toEqual(lean);
    expect(emailsOf(await list('text=%25'))).toEqual([]);
  });

  test('rejects what it does not know', async () => {
    for (const query of [
      ...['limit=0', 'limit=-1', 'limit=1e3', 'after=x', 'after=99999999999999999'],
      ...['standing=none', 'verified=1', 'sort=id', `text=${'x'.repeat(255)}`, 'metadata=a'],
    ]) {
      const answer = await open.call('GET', `/accounts?${query}`);
      expect([query, answer.status, codeOf(answer)]).toEqual([query, 400, 'invalid_request']);
    }
  });

  test('has each of 5,000 accounts once, also while others are created, in fast pages', async () => {
    const now = open.identity.clock();
    const rows = Array.from({ length: 5_000 }, (_, index) => ({
      id: `acct_${String(index).padStart(24, '0')}`,
      email: `many-${index}@many.example`,
      plan: index % 100 === 0 ? 'starter' : 'pro',
      planSince: now,
      standing: 'active' as const,
      emailVerified: true,
      createdAt: now,
    }));
    for (let start = 0; start < rows.length; start += 1_000) {
      await open.database.db
        .insert(accounts)
        .values(rows.slice(start, start + 1_000))
        .run();
    }
    const first = await list('text=many.example&limit=200');
    await open.account('late@many.example');
    const rest = await walk(`text=many.example&limit=200&after=${first.next}`);
    const ids = [...first.data, ...rest].map(({ id }) => id);
    expect(ids).toEqual(rows.map(({ id }) => id).toReversed());
    expect(await walk('text=many.example&plan=starter&limit=7')).toHaveLength(50);
    expect((await list('text=many.example&limit=999')).data).toHaveLength(200);
    const queries = [
      'limit=200',
      'text=many-4999&limit=200',
      'plan=starter&limit=200&after=-created:n100:100',
    ];
    for (const query of queries) {
      const times = [];
      for (let turn = 0; turn < 5; turn += 1) {
        const begun = performance.now();
        await list(query);
        times.push(performance.now() - begun);
      }
      expect(Math.min(...times)).toBeLessThan(250);
    }
  }, 60_000);
});
