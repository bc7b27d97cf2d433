// How much of the event loop searches of the documentation may take.

import { expect, test } from 'bun:test';
import { createDocSite } from '../../src/docs/site.ts';
import { boundSearch } from '../../src/server/docs.ts';

const search = () => new Request('http://gate.example/docs/search?q=hold');

test('searches of all networks take at most a twentieth of the time, and pages are served', async () => {
  let nowMs = 0;
  const site = async (): Promise<Response> => {
    nowMs += 10;
    return new Response('found');
  };
  const app = boundSearch(
    site,
    () => nowMs,
    () => ({ 'x-policy': 'none' }),
  );
  let served = 0;
  let refused: Response | undefined;
  for (; nowMs < 600_000; nowMs += 10) {
    const response = await app(search(), null);
    if (response.status === 200) served += 1;
    else refused = response;
  }
  // A minute's share at once, then 5 % of ten minutes.
  expect(served * 10).toBeWithin(30_000, 3_000 + 30_000 + 100);
  expect(refused?.status).toBe(429);
  expect(refused?.headers.get('retry-after')).toBe('1');
  expect(refused?.headers.get('x-policy')).toBe('none');
  const page = await app(new Request('http://gate.example/docs'), null);
  expect(page.status).toBe(200);
});

test('a search takes its whole time from the share, with a key of its reader or without', async () => {
  let nowMs = 0;
  const site = createDocSite({
    part: 'customers',
    docs: { pages: [], style: '', script: '', icon: '' },
    publicUrl() {
      nowMs += 10;
      return 'http://gate.example';
    },
    models: () => MODELS,
    maskedKeyOf: async () => 'sk-abc…wxyz',
    headers: () => ({}),
  });
  const app = boundSearch(
    site,
    () => nowMs,
    () => ({}),
  );
  const statuses = new Set<number>();
  for (let asked = 0; asked < 1_000; asked += 1) statuses.add((await app(search(), null)).status);
  expect([...statuses]).toEqual([200, 429]);
  expect(nowMs).toBeLessThan(5_000);
});

test('paths that do not exist have one page, which is rendered once', async () => {
  let renders = 0;
  const face = {
    get name() {
      renders += 1;
      return 'Gate';
    },
    icon: undefined,
    colours: undefined,
  };
  const site = createDocSite({
    part: 'customers',
    docs: { pages: [], style: '', script: '', icon: '' },
    publicUrl: () => 'http://gate.example',
    models: () => MODELS,
    face: () => face,
    headers: () => ({}),
  });
  const ask = (path: string) => site(new Request(`http://gate.example/docs/${path}`));
  expect((await ask('nowhere')).status).toBe(404);
  const first = renders;
  for (let at = 0; at < 20; at += 1) expect((await ask(`nowhere-${at}.md`)).status).toBe(404);
  expect([first > 0, renders]).toEqual([true, first]);
});

const MODELS: [] = [];
