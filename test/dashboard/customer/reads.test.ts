// How often an account reads in the dashboard.

import { expect, test } from 'bun:test';
import { temporaryDirectory } from '../../support/database.ts';
import { openCustomerApp } from './app.ts';

const directory = temporaryDirectory();

test('an account reads 600 times a minute; others and changes are not affected', async () => {
  const app = await openCustomerApp(directory);
  const account = await app.customer();
  const other = await app.customer();
  const statuses = new Set<number>();
  for (let read = 0; read < 600; read += 1) {
    statuses.add((await app.get(account, '/model-names')).status);
  }
  expect([...statuses]).toEqual([200]);
  const refused = await app.open(account, 'GET', '/usage?days=7');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
  expect(await refused.json()).toMatchObject({
    error: {
      code: 'too_many_attempts',
      message: 'The limit of 600 reads a minute is reached. Try again in 60 seconds.',
    },
  });
  expect((await app.get(other, '/usage?days=7')).status).toBe(200);
  expect((await app.ask(account, 'POST', '/keys', { name: 'ci' })).status).toBe(200);
  app.advance(60_000);
  expect((await app.get(account, '/usage?days=7')).status).toBe(200);
  await app.close();
});
