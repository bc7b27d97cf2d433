// The file of requests that a customer downloads: every request of the ledger with what it cost, and
// nothing that a spreadsheet would run.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFile } from 'node:fs/promises';
import { describeInBrowser } from '../support/browser.ts';
import { post, requestBody } from '../support/client.ts';
import { parseCsv } from '../support/csv.ts';
import { expectClean, expectRow, openRig, openSignedIn, type Rig } from './rig.ts';

let rig: Rig;

describeInBrowser('the export', ({ visit }) => {
  beforeAll(async () => {
    rig = await openRig(['ok', 'tokens-30']);
  });
  afterAll(() => rig.close());

  test('has every request that the ledger has, and cells that begin a formula are text (B-184)', async () => {
    const customer = await rig.newCustomer();
    const { json } = await customer.session.send('POST', '/keys', { name: 'laptop' });
    const caller = { url: rig.gateway.url, key: String(json['key']) };
    const users = [
      '=HYPERLINK("http://elsewhere.example")',
      '+1',
      '-1',
      '@SUM(A1)',
      "x;=1+cmd|'/C calc'!A0",
      'x,＝1',
      'plain, "quoted"',
    ];
    for (const user of users) {
      const answer = await post(
        caller,
        '/v1/chat/completions',
        requestBody('chat', 'tokens-30', { user }),
      );
      await answer.text();
    }
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/requests');
    await expectRow(page);
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export as CSV' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(/^requests-\d{4}-\d\d-\d\d\.csv$/);
    const rows = parseCsv(await readFile(await download.path(), 'utf8'));
    const [head = [], ...lines] = rows;
    const column = (name: string) => lines.map((line) => line[head.indexOf(name)] ?? '');

    const ledger = await customer.session.get('/ledger');
    const entries = (ledger.json['data'] as { id: string; kind: string; amount: string }[])
      .filter(({ kind }) => kind === 'request')
      .map(({ id, amount }) => `${id} ${amount.replace('-', '')}`);
    const exported = lines.map(
      (_, row) => `${column('request_id')[row]} ${column('svc_tokens_debited')[row]}`,
    );
    expect(exported.sort()).toEqual(entries.sort());
    expect(lines).toHaveLength(users.length);
    const cells = lines.flat();
    expect(cells.filter((cell) => /(^|[;,\t])[=+\-@\t\r＝]/.test(cell))).toEqual([]);
    expect(
      column('end_user')
        .map((cell) => cell.replace(/(^|[;,])'/g, '$1'))
        .sort(),
    ).toEqual([...users].sort());
    await expectClean(visitor);
  });

  test('the ledger of a month adds up to the balance and names the keys', async () => {
    const customer = await rig.newCustomer();
    const { json } = await customer.session.send('POST', '/keys', { name: '=laptop' });
    const caller = { url: rig.gateway.url, key: String(json['key']) };
    const answer = await post(caller, '/v1/chat/completions', requestBody('chat', 'tokens-30'));
    await answer.text();
    await using visitor = await visit(`${rig.gateway.url}/dashboard`);
    const { page } = visitor;
    await openSignedIn(visitor, customer, '/ledger');
    await expectRow(page);
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export as CSV' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(/^ledger-\d{4}-\d\d-\d\d\.csv$/);
    const [head = [], ...lines] = parseCsv(await readFile(await download.path(), 'utf8'));
    const column = (name: string) => lines.map((line) => line[head.indexOf(name)] ?? '');
    const micros = (decimal: string) => BigInt(Math.round(Number(decimal) * 1e6));
    const { json: account } = await customer.session.get('/account');
    const { total } = account['balance'] as { readonly total: string };
    const sum = column('svc_tokens').reduce((all, amount) => all + micros(amount), 0n);
    expect(sum).toBe(micros(total));
    expect(column('svc_tokens_balance').at(-1)).toBe(total);
    expect(column('key_name')).toEqual(['', "'=laptop"]);
    await expectClean(visitor);
  });
});
