// A smoke pass of every page in Firefox: it opens, shows its heading and data, is as wide as the
// window, and the browser has nothing to complain about.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { exampleOf, linksOn, readPages } from '../../scripts/screenshot-pages/pages.ts';
import { type Firefox, findFirefox, startFirefox } from '../support/firefox.ts';
import { PREFIXES, type Realm } from '../support/session.ts';
import { waitUntil } from '../support/upstream.ts';
import { askOnce, openRig, type Rig } from './rig.ts';

const path = findFirefox();
const isSkipped = path === undefined && process.env['CI'] !== 'true';
if (isSkipped) process.stderr.write('skipped, as there is no Firefox: every page in Firefox\n');

setDefaultTimeout(120_000);

let rig: Rig;
let firefox: Firefox;

describe.skipIf(isSkipped)('every page in Firefox', () => {
  beforeAll(async () => {
    rig = await openRig();
    firefox = await startFirefox(path ?? 'firefox-esr');
  });
  afterAll(async () => {
    await firefox[Symbol.asyncDispose]();
    await rig.close();
  });

  /** Opens a page and waits until it has what it asked for. Returns the text of its heading. */
  async function open(url: string): Promise<string> {
    await firefox.goto(url);
    const isReady =
      '[document.querySelector("h1") !== null && document.querySelector(".skeleton, .page-skeleton") === null]';
    await waitUntil(async () => (await firefox.evaluate<[boolean]>(isReady))[0], 20_000);
    const [heading, isWide] = await firefox.evaluate<[string, boolean]>(
      '[document.querySelector("h1").textContent, document.documentElement.scrollWidth > innerWidth]',
    );
    expect([url, isWide, firefox.takeComplaints()]).toEqual([url, false, []]);
    return heading;
  }

  async function signIn(realm: Realm, email: string, password: string): Promise<void> {
    const status = await firefox.evaluate<number>(
      `fetch('${PREFIXES[realm]}/api/auth/login', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: ${JSON.stringify(JSON.stringify({ email, password }))},
      }).then((response) => response.status)`,
    );
    expect(status).toBe(200);
  }

  test('for strangers', async () => {
    const { gateway } = rig;
    for (const each of ['/', '/models', '/docs', '/docs/errors', '/docs/search?q=key']) {
      expect(await open(`${gateway.url}${each}`)).not.toBe('');
    }
  });

  test('an error in the console does not pass', async () => {
    await firefox.goto(rig.gateway.url);
    await firefox.evaluate('console.error("broken")');
    await waitUntil(() => firefox.takeComplaints().includes('broken'), 10_000);
  });

  test.each(['customer', 'operator'] as const)('of the %s', async (realm) => {
    const pages = await readPages(realm);
    const { gateway, operator } = rig;
    const origin = realm === 'customer' ? gateway.url : gateway.operatorUrl();
    const base = `${origin}${PREFIXES[realm]}`;
    for (const page of pages.filter(({ signedOut }) => signedOut)) {
      expect(await open(`${base}${page.path}`)).not.toBe('');
    }
    const who = realm === 'customer' ? await rig.newCustomer() : operator;
    if (realm === 'customer') {
      const { key } = await gateway.run('key', 'create', who.email);
      expect(await askOnce(rig, String(key))).toEqual([200, undefined]);
    }
    await signIn(realm, who.email, who.password);
    const links = new Set<string>();
    const evaluate = (expression: string) => firefox.evaluate(expression);
    const look = async (each: string) => {
      const heading = await open(`${base}${each}`);
      expect([each, heading]).not.toEqual([each, 'This page failed to load']);
      expect(await firefox.evaluate<string>('location.pathname')).not.toContain('/sign-in');
      for (const link of await linksOn({ evaluate }, PREFIXES[realm])) links.add(link);
    };
    const inside = pages.filter(({ signedOut }) => !signedOut).map((page) => page.path);
    for (const each of inside.filter((page) => !page.includes(':'))) await look(each);
    for (const each of inside.filter((page) => page.includes(':'))) {
      const example = exampleOf(each, links);
      expect([each, example]).not.toEqual([each, undefined]);
      await look(example ?? '');
    }
  });
});
