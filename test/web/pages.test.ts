// The pages of customers: what they read and show.

import { afterEach, describe, expect, setSystemTime, test } from 'bun:test';
import { compileCatalogue, TRANSLATIONS } from '../../src/dashboard/texts/compile.ts';
import { type Answer, held, openPage, settle, until } from '../support/page.ts';

afterEach(() => {
  setSystemTime();
});

const NONE = { data: [], next: null };
const CHART = {
  ...{ step: 'day', buckets: [], completed: [], cancelled: [], failed: [], refused: [] },
};
const KEY = { id: 'key_1', name: 'a', masked: 'sk-aaaa…bbbb', status: 'active' };

const open = (path: string, answer: Answer) => openPage({ app: 'dashboard', path, answer });

describe('the list of requests', () => {
  test.each(['', '?days=7'])('is not read again after midnight, with %p', async (search) => {
    setSystemTime(new Date('2026-11-21T23:59:30Z'));
    const choices = held<object>();
    const page = await open(`/requests${search}`, ({ path }) => {
      if (path.startsWith('/requests/filters')) return choices.promise;
      return path.startsWith('/requests/chart') ? CHART : NONE;
    });
    page.mount(page.parts.CustomerRequestsPage);
    await until(() => /No requests yet|No matches/.test(page.text()));
    setSystemTime(new Date('2026-11-22T00:00:50Z'));
    choices.release({ models: ['swift-1'], keys: [] });
    await until(() => page.text().includes('swift-1'));
    await settle();
    expect([page.reads('/requests').length, page.reads('/requests/chart').length]).toEqual([1, 1]);
    page.close();
  });

  test.each([
    ['', '2026-11-15T00:00:00.000Z', '2026-11-22T00:00:00.000Z', ', last 7 days'],
    ['?to=2026-10-05T12:30:00.000Z', '2026-09-29T00:00:00.000Z', '2026-10-05T12:30:00.000Z', ''],
  ])('has a chart of whole days before its end, with %p', async (search, from, to, title) => {
    setSystemTime(new Date('2026-11-21T12:00:10Z'));
    const counts = { completed: [3], cancelled: [0], failed: [0], refused: [0] };
    const page = await open(`/requests${search}`, ({ path }) => {
      if (path.startsWith('/requests/filters')) return { models: [], keys: [] };
      return path.startsWith('/requests/chart') ? { ...CHART, buckets: [from], ...counts } : NONE;
    });
    page.mount(page.parts.CustomerRequestsPage);
    await until(() => page.text().includes(`Requests per day (UTC)${title}`));
    const query = new URLSearchParams({ from, to });
    expect(page.reads('/requests/chart')).toEqual([`/requests/chart?${query}`]);
    page.close();
  });
});

describe('a field that is sent', () => {
  test('keeps its input, and follows the value of the address', async () => {
    const page = await open('/keys', () => NONE);
    const fields = [
      {
        part: page.parts.SentField,
        label: 'End user',
        of: (value: string) => ({ label: 'End user', placeholder: '', value, onSend: () => {} }),
      },
      {
        part: page.parts.KeyFilters,
        label: 'Search',
        of: (text: string) => ({ text, state: 'kept', onText: () => {}, onState: () => {} }),
      },
    ];
    for (const { part, label, of } of fields) {
      page.mount(part, of(''));
      const input = page.field(label);
      page.type(input, 'ann');
      expect(input.value).toBe('ann');
      page.mount(part, of('ann'));
      page.mount(part, of(''));
      await until(() => input.value === '');
      expect(page.field(label) === input).toBe(true);
    }
    page.close();
  });
});

describe('keys', () => {
  test('are resumed only if they are active', async () => {
    const page = await open('/keys', () => NONE);
    const actions = page.parts.keyActions as (audience: string) => readonly {
      readonly label: string;
      readonly isOffered: (key: object) => boolean;
    }[];
    const resume = actions('account').find(({ label }) => label === 'Resume');
    const paused = { paused_at: '2026-11-21T12:00:00Z', paused_reason: 'user' };
    const offered = ['active', 'expired', 'revoked'].filter((status) =>
      resume?.isOffered({ status, ...paused }),
    );
    expect(offered).toEqual(['active']);
  });

  test('have to be chosen before several are revoked', async () => {
    const page = await open('/keys', () => ({ data: [KEY], next: null }));
    let closed = 0;
    page.mount(page.parts.RevokeSeveralDialog, {
      path: '/keys',
      onDone: () => {},
      onClose: () => {
        closed += 1;
      },
    });
    await until(() => page.text().includes(KEY.masked));
    page.first('form').fire('submit');
    await until(() => page.text().includes('Choose at least one key.'));
    await settle();
    expect([closed, page.asked.filter(({ method }) => method === 'POST')]).toEqual([0, []]);
    page.close();
  });
});

test('the playground attaches all images that are pasted one after the other', async () => {
  const page = await open('/playground', () => NONE);
  page.mount(page.parts.Composer, { takesPictures: true, isRunning: false });
  for (const name of ['a.png', 'b.png']) {
    const files = [new File([name], name, { type: 'image/png' })];
    page.first('textarea').fire('paste', { clipboardData: { files } });
  }
  const canvases = () => page.root.all().filter(({ localName }) => localName === 'canvas');
  await until(() => canvases().length === 2);
  const names = canvases().map((canvas) => canvas.getAttribute('aria-label'));
  expect(names).toEqual(['a.png', 'b.png']);
  page.close();
});

test.each([true, false])(
  'the playground has Responses if the service has: %p',
  async (responses) => {
    const model = { id: 'swift-1', display_name: 'Swift', available: true, max_output_tokens: 8 };
    const features = { tools: true, reasoning: true, json_mode: true, vision: true };
    const data = [{ ...model, features, pricing: { input: '1', output: '1' } }];
    const page = await open('/playground', ({ path }) =>
      path === '/connection' ? { base_url: '', responses } : { data },
    );
    // As the last conversation had it.
    page.parts.changeSettings({ format: 'responses' } as never);
    page.mount(page.parts.PlaygroundPage);
    await until(() => page.buttons('Messages') === 1);
    expect(page.buttons('Responses')).toBe(responses ? 1 : 0);
    const active = page.button(responses ? 'Responses' : 'Chat completions');
    expect(String(active.getAttribute('aria-pressed'))).toBe('true');
    page.close();
  },
);

describe('in German', () => {
  const texts = compileCatalogue('de', Object.keys(TRANSLATIONS.de));
  const german = () => openPage({ app: 'dashboard', path: '/', answer: () => NONE, texts });

  test('a button that says only "copy" has a name that says what', async () => {
    const page = await german();
    page.mount(page.parts.CopyButton, { text: 'sk-1', label: 'Schlüssel kopieren' });
    const button = page.first('button');
    expect(button.getAttribute('aria-label')).toBe('Schlüssel kopieren');
    expect(button.textContent).toBe('Kopieren');
    page.close();
  });

  test('days, months and problems of tools are German', async () => {
    setSystemTime(new Date('2026-03-15T12:00:00Z'));
    const { weekdays, lastMonths, readTools } = (await german()).parts;
    expect((weekdays as (codes: string[]) => string)(['mon', 'sat'])).toMatch(/^Mo\.?, Sa\.?$/);
    const months = (lastMonths as (count: number) => { readonly label: string }[])(1);
    expect(months[0]?.label).toBe('März 2026');
    expect((readTools as (text: string) => unknown)('{')).toStartWith('Ungültiges JSON. ');
  });
});
