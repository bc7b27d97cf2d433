// The pages of an application, read from its route table, and what it takes to open each.

import { resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { signInAs } from '../../test/support/browser-session.ts';
import type { Realm } from '../../test/support/session.ts';
import type { Demo } from './demo.ts';

export type PageRow = {
  readonly path: string;
  readonly title: string;
  readonly signedOut?: boolean;
};

/** A row of a route table. */
const ROW = /\[\s*'(\/[^']*)',\s*t\(\s*(['"])(.*?)\2\s*\)/g;

/** Read as text: pages are written for browsers, and this program has neither window nor document. */
export async function readPages(realm: Realm): Promise<readonly PageRow[]> {
  const web = resolve(import.meta.dir, '../../src/web');
  const own = await Bun.file(`${web}/${realm}/pages.tsx`).text();
  const signIn = await Bun.file(`${web}/auth/pages.ts`).text();
  const [inside = '', ...outside] = own.split('signedOutPages([');
  const rowsOf = (text: string) =>
    [...text.matchAll(ROW)].map(([, path = '', , title = '']) => ({ path, title }));
  return [
    ...rowsOf(inside),
    ...rowsOf([...outside, signIn].join('\n')).map((row) => ({ ...row, signedOut: true })),
  ];
}

/** Waits until the page has what it asked for. A live feed never ends, so silence is no sign. */
export async function settle(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor({ timeout: 10_000 });
  await page.locator('.skeleton, [aria-busy=true]').first().waitFor({ state: 'detached' });
  await page.evaluate('document.fonts.ready');
}

/** Paths below the prefix that the page links to. `evaluate` runs an expression on the page. */
export async function linksOn(
  page: { readonly evaluate: (expression: string) => Promise<unknown> },
  prefix: string,
): Promise<readonly string[]> {
  const links = (await page.evaluate(
    '[...document.querySelectorAll("a[href]")].map((link) => link.pathname)',
  )) as readonly string[];
  return links
    .filter((link) => link.startsWith(`${prefix}/`))
    .map((link) => link.slice(prefix.length));
}

/** A link to a page such as `/keys/:id`. */
export function exampleOf(path: string, links: Iterable<string>): string | undefined {
  const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`);
  return [...links].find((link) => pattern.test(link));
}

export async function signInOn(
  page: Page,
  { customer, operator }: Demo,
  realm: Realm,
): Promise<void> {
  await signInAs(page, realm, realm === 'customer' ? customer : operator);
}
