// The rig of browser tests: a gateway with the scripted upstream, a mailbox, an operator, and common
// steps on pages.

import { expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { exampleOf, linksOn, readPages, settle } from '../../scripts/screenshot-pages/pages.ts';
import type { Behaviour } from '../support/behaviours.ts';
import type { Visitor } from '../support/browser.ts';
import { signInAs } from '../support/browser-session.ts';
import { type CatalogOptions, catalogFor } from '../support/catalog.ts';
import { post, requestBody } from '../support/client.ts';
import {
  type Customer,
  createCustomer,
  createOperator,
  type Operator,
  openSignUp,
} from '../support/customer.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';
import { PREFIXES } from '../support/session.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

export type Rig = {
  readonly gateway: Gateway;
  readonly mailbox: Mailbox;
  readonly upstream: Upstream;
  readonly operator: Operator;
  /** A new customer who can pay. */
  readonly newCustomer: () => Promise<Customer>;
  readonly close: () => Promise<void>;
};

/** Models are behaviours of the scripted upstream; see `test/support/behaviours.ts`. */
export async function openRig(
  models: readonly string[] = ['ok'],
  options?: CatalogOptions,
  environment: Readonly<Record<string, string>> = {},
  behaviours: Readonly<Record<string, Behaviour>> = {},
): Promise<Rig> {
  const upstream = await startUpstream(behaviours);
  const mailbox = await openMailbox();
  const gateway = await startGateway({
    catalog: catalogFor(upstream, models, options),
    environment: { ...openSignUp(mailbox), ...environment },
  });
  const operator = await createOperator(gateway);
  return {
    gateway,
    mailbox,
    upstream,
    operator,
    async newCustomer() {
      const customer = await createCustomer(gateway);
      await gateway.run('account', 'credit', customer.accountId, '100000');
      return customer;
    },
    async close() {
      await gateway[Symbol.asyncDispose]();
      await mailbox[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

/** The code and status of a small request with a key. */
export async function askOnce(
  { gateway: { url } }: Rig,
  key: string,
): Promise<readonly [number, string | undefined]> {
  const response = await post({ url, key }, '/v1/chat/completions', requestBody('chat', 'ok'));
  const { error } = (await response.json()) as { readonly error?: { readonly code: string } };
  return [response.status, error?.code];
}

/** Signs in on the visitor's page and opens a page of the application. */
export async function openSignedIn(
  { page }: Visitor,
  who: Customer | Operator,
  path = '',
): Promise<void> {
  const { realm } = who.session;
  await signInAs(page, realm, who);
  if (path === '') return;
  await page.goto(`${who.session.url}${realm === 'customer' ? '/dashboard' : '/operator'}${path}`);
}

/** Opens each page of the application for a visitor who is signed in; a record's page by a link. */
export async function* openEach(
  { page }: Visitor,
  { session: { realm, url } }: Customer | Operator,
): AsyncGenerator<string> {
  const prefix = PREFIXES[realm];
  const pages = (await readPages(realm)).filter(({ signedOut }) => !signedOut);
  const isOne = ({ path }: { readonly path: string }) => path.includes(':');
  const links = new Set<string>();
  for (const { path } of [...pages.filter((row) => !isOne(row)), ...pages.filter(isOne)]) {
    const example = path.includes(':') ? exampleOf(path, links) : path;
    if (example === undefined) continue;
    await page.goto(`${url}${prefix}${example}`);
    await settle(page);
    for (const link of await linksOn(page, prefix)) links.add(link);
    yield path;
  }
}

/** Code whose first line begins beside the button that copies it: it covers the line, or narrows all. */
export const BESIDE_BUTTONS = `[...document.querySelectorAll('.main :is(.code-block, .code:has(> .button))')]
  .filter((block) => block.getBoundingClientRect().width > 0)
  .filter((block) => {
    const text = document.createRange();
    text.selectNodeContents(block.querySelector('pre'));
    return text.getBoundingClientRect().top < block.querySelector('.button').getBoundingClientRect().bottom - 2;
  })
  .map((block) => block.textContent.slice(0, 40))`;

/** Creates a key on the keys page and closes the dialog. */
export async function makeKey(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name: 'Create key' }).first().click();
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const key = await shownKey(page);
  await page.getByRole('button', { name: 'Done, I’ve copied it' }).click();
  return key;
}

/** The key in the dialog that shows it this once. */
export async function shownKey(page: Page): Promise<string> {
  const key = await page.locator('dialog section[aria-label="the key"] pre').textContent();
  expect(key).toMatch(/^sk-[A-Za-z0-9]{48}$/);
  return key ?? '';
}

/** Expects no browser errors and no accessibility findings. */
export async function expectClean(visitor: Visitor): Promise<void> {
  expect(visitor.complaints()).toEqual([]);
  expect(await visitor.accessibilityFindings()).toEqual([]);
}

/** Waits until the text is on the page. */
export async function expectText(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).first().waitFor();
}

/** Waits until a table of the page has a row. */
export async function expectRow(page: Page): Promise<void> {
  await page.locator('tbody tr').first().waitFor();
}

/** Waits until the tables of the page have this many rows. */
export async function expectRowCount(page: Page, count: number): Promise<void> {
  const rows = page.locator('tbody tr');
  await waitUntil(async () => (await rows.count()) === count, 10_000);
}

/** Waits until the page shows an error. */
export async function expectAlert(page: Page): Promise<void> {
  await page.getByRole('alert').first().waitFor();
}

/** Waits until the address of the page is this one. */
export async function expectPath(page: Page, path: string): Promise<void> {
  await waitUntil(() => new URL(page.url()).pathname === path, 10_000);
}
