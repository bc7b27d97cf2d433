// Budgets in the list of a customer's keys: a page reads those of its own keys alone.

import { expect, spyOn, test } from 'bun:test';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { openCustomerApp } from './app.ts';

const directory = temporaryDirectory();

describeOnEachDatabase("the budgets of a customer's keys", () => {
  test('are read for the listed keys, and not for all that were ever revoked', async () => {
    const app = await openCustomerApp(directory);
    const account = await app.customer();
    const ids: string[] = [];
    for (let n = 0; n < 8; n += 1) {
      const { json } = await app.ask(account, 'POST', '/keys', { budget: { total: '1' } });
      ids.push(String(json['id']));
    }
    const [kept, ...others] = ids;
    for (const id of others) await app.ask(account, 'POST', `/keys/${id}/revoke`);
    const rows = spyOn(app.database, 'rows');
    const budgetsRead = async (): Promise<number> => {
      const answers = await Promise.all(rows.mock.results.map(({ value }) => value));
      rows.mockClear();
      return answers.flat().filter((row) => 'limit_total' in (row as object)).length;
    };
    const { json } = await app.get(account, '/keys?state=kept');
    expect(json['data']).toMatchObject([{ id: kept, budget: { total: { limit: '1' } } }]);
    expect(await budgetsRead()).toBe(1);
    const edited = await app.ask(account, 'PATCH', `/keys/${kept}`, { name: 'kept' });
    expect(edited.json).toMatchObject({ id: kept, budget: { total: { limit: '1' } } });
    expect(await budgetsRead()).toBe(1);
    // With one more row, which shows whether there is a next page.
    expect((await app.get(account, '/keys?limit=2')).json['data']).toHaveLength(2);
    expect(await budgetsRead()).toBe(3);
    rows.mockRestore();
    await app.close();
  });
});
