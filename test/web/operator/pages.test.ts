// The pages of operators: what they read, send and show.

import { afterEach, describe, expect, setSystemTime, test } from 'bun:test';
import { type Answer, held, openPage, settle, until } from '../../support/page.ts';

afterEach(() => {
  setSystemTime();
});

const NONE = { data: [], next: null };
const refusal = (message: string) =>
  Response.json({ error: { code: 'odd', message } }, { status: 500 });

const open = (path: string, answer: Answer) => openPage({ app: 'operator', path, answer });

describe('a typed filter', () => {
  test('is applied after a pause, and follows the address', async () => {
    const page = await open('/requests?model=a', () => NONE);
    const field = { name: 'model', label: 'Model', placeholder: '', maxLength: 64 };
    page.mount(page.parts.TypedFilter, field);
    const input = page.field('Model');
    expect(input.value).toBe('a');
    page.type(input, ' swift ');
    await until(() => page.location.search === '?model=swift');
    page.navigate('');
    await until(() => input.value === '');
    page.navigate('?model=b');
    await until(() => input.value === 'b');
    await settle();
    expect([page.location.search, page.field('Model') === input]).toEqual(['?model=b', true]);
    page.close();
  });

  test('keeps its input when the list is filtered by it', async () => {
    const page = await open('/requests', ({ path }) =>
      path === '/upstreams' ? { upstreams: [], forgotten: [] } : NONE,
    );
    page.mount(page.parts.OperatorRequestsPage);
    await until(() => page.text().includes('No requests yet'));
    const input = page.field('Model');
    page.type(input, 'swift');
    await until(() => page.reads('/requests').includes('/requests?model=swift&limit=100'));
    await until(() => page.text().includes('No matches'));
    expect(page.field('Model') === input).toBe(true);
    page.close();
  });
});

test('the log of the last days is not read again after midnight', async () => {
  setSystemTime(new Date('2026-11-21T23:59:30Z'));
  const page = await open('/requests?days=7', ({ path }) =>
    path === '/upstreams' ? { upstreams: [], forgotten: [] } : NONE,
  );
  page.mount(page.parts.OperatorRequestsPage);
  await until(() => page.text().includes('No matches'));
  setSystemTime(new Date('2026-11-22T00:00:50Z'));
  page.button('Pause').fire('click');
  await until(() => page.text().includes('Follow'));
  await settle();
  expect(page.reads('/requests')).toHaveLength(1);
  page.close();
});

test('an interval does not abort a read that takes longer', async () => {
  const list = held<object>();
  const page = await open('/approvals', () => list.promise);
  page.mount(page.parts.ApprovalsPage);
  await until(() => page.reads('/approvals').length === 1);
  page.tick(15_000);
  expect(page.reads('/approvals')).toHaveLength(1);
  list.release(NONE);
  await until(() => page.text().includes('No approvals yet'));
  page.tick(15_000);
  expect(page.reads('/approvals')).toHaveLength(2);
  page.close();
});

test.each([
  ['5000000', 'codes above $5.00 need a second operator.', 'Requests above that amount'],
  [null, 'Set FOUR_EYES_ABOVE to require a second operator', 'No approvals yet'],
])('approvals above %p say so', async (above, lead, empty) => {
  const page = await open('/approvals', () => ({ ...NONE, above }));
  page.mount(page.parts.ApprovalsPage);
  await until(() => page.text().includes(empty));
  expect(page.text()).toContain(lead);
  page.close();
});

describe('a failure is shown', () => {
  test('of a later read of the alerts', async () => {
    let answer: unknown = NONE;
    const page = await open('/alerts', () => answer);
    page.mount(page.parts.AlertsPage);
    await until(() => page.text().includes('No open alerts'));
    answer = refusal('Out of order.');
    page.tick(15_000);
    await until(() => page.text().includes('Out of order.'));
    page.close();
  });

  test('of a button without a dialog', async () => {
    const page = await open('/upstreams/east', () => refusal('It is gone.'));
    page.mount(page.parts.EnableButton, { path: '/upstreams/east', reload: async () => {} });
    page.button('Return to service').fire('click');
    page.mount(page.parts.Toasts);
    await until(() => page.text().includes('It is gone.'));
    page.close();
  });
});

test('only active keys are resumed', async () => {
  const key = {
    ...{ id: 'key_1', name: null, masked: 'sk-aaaa…bbbb', last_used_at: null, expires_at: null },
    ...{ budget: null, models: null, networks: null, created_at: '2026-11-01T00:00:00Z' },
    ...{ paused_at: '2026-11-21T12:00:00Z', paused_reason: 'user' },
  };
  const data = [
    { ...key, status: 'active', revoked_at: null, revoked_reason: null },
    { ...key, id: 'key_2', status: 'revoked', revoked_at: key.paused_at, revoked_reason: 'user' },
  ];
  const page = await open('/accounts/acct_1?tab=keys', () => ({ data, next: null }));
  const account = { id: 'acct_1', email: 'ann@example.com' };
  page.mount(page.parts.AccountTabs, { account, onKeysChange: async () => {} });
  await until(() => page.text().includes(key.masked));
  expect(page.buttons('Resume')).toBe(1);
  page.close();
});

describe('the check of a draft', () => {
  type Draft = { readonly name: string };
  type UseChecked = (
    draft: Draft,
    send: (draft: Draft) => Promise<string>,
  ) => {
    readonly check: string | undefined;
    readonly action: { readonly error: { readonly value: unknown } };
  };

  test('is of the version that is shown, also of one that changed during a check', async () => {
    const page = await open('/prices', () => NONE);
    const useChecked = page.parts.useChecked as UseChecked;
    const [one, two] = [{ name: 'one' }, { name: 'two' }];
    const first = held<string>();
    const sent: string[] = [];
    const send = ({ name }: Draft): Promise<string> => {
      sent.push(name);
      return name === 'one' ? first.promise : Promise.resolve('of two');
    };
    let draft: Draft = one;
    const seen = new Set<string>();
    const { again, result } = page.run(() => {
      const checked = useChecked(draft, send);
      seen.add(`${draft.name}: ${checked.check}`);
      return checked;
    });
    await until(() => sent.length === 1);
    draft = two;
    again();
    await settle();
    expect(sent).toEqual(['one']);
    first.release('of one');
    await until(() => result()?.check === 'of two');
    expect(sent).toEqual(['one', 'two']);
    expect([...seen]).toEqual(['one: undefined', 'two: undefined', 'two: of two']);
    page.close();
  });

  test('that failed is not repeated by itself', async () => {
    const page = await open('/prices', () => NONE);
    const useChecked = page.parts.useChecked as UseChecked;
    const draft = { name: 'one' };
    let sent = 0;
    const { result } = page.run(() =>
      useChecked(draft, () => {
        sent += 1;
        return Promise.reject(new Error('no answer'));
      }),
    );
    await until(() => result()?.action.error.value !== undefined);
    await settle();
    expect(sent).toBe(1);
    page.close();
  });
});
