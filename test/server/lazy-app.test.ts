// A dashboard application that fails to load or fails later, as a browser sees it.

import { expect, test } from 'bun:test';
import { lazyMount } from '../../src/server/lazy-app.ts';

const visit = () => new Request('http://gate.example/dashboard');

test('what fails is logged and answered without its message; the next visit loads again', async () => {
  const logged: unknown[] = [];
  let loads = 0;
  const mount = lazyMount(
    async () => {
      loads += 1;
      if (loads === 1) throw new Error('SQLITE_CANTOPEN /srv/secret/path');
      return async () => new Response('the page');
    },
    (error) => logged.push(String(error)),
  );
  const failed = await mount(visit(), null);
  const text = await failed.text();
  expect([failed.status, JSON.parse(text).error.code]).toEqual([503, 'unavailable']);
  expect(text).not.toContain('secret');
  expect(failed.headers.get('cache-control')).toBe('no-store');
  expect(failed.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await (await mount(visit(), null)).text()).toBe('the page');
  expect(await (await mount(visit(), null)).text()).toBe('the page');
  expect([loads, logged]).toEqual([2, ['Error: SQLITE_CANTOPEN /srv/secret/path']]);
});

test('an application that fails once it is loaded is kept, and says nothing either', async () => {
  let loads = 0;
  const mount = lazyMount(
    async () => {
      loads += 1;
      return () => Promise.reject(new Error('inner words'));
    },
    () => undefined,
  );
  for (let turn = 0; turn < 2; turn += 1) {
    const response = await mount(visit(), null);
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain('inner words');
  }
  expect(loads).toBe(1);
});
