// `scripts/screenshots`: opens every page of both applications in a real browser, over the gateway
// of screenshot-pages/demo.ts, and writes a screenshot of each variant.

import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import {
  launchChromium,
  openVisitor,
  type Visitor,
  type VisitorOptions,
} from '../test/support/browser.ts';
import { PREFIXES, type Realm } from '../test/support/session.ts';
import { type Demo, startDemo } from './screenshot-pages/demo.ts';
import {
  exampleOf,
  linksOn,
  type PageRow,
  readPages,
  settle,
  signInOn,
} from './screenshot-pages/pages.ts';
import { toPalette } from './screenshot-pages/palette.ts';

const folder = resolve(import.meta.dir, '../.screenshots');

type Form = VisitorOptions & { readonly name: string };

const SIZES = {
  wide: { width: 1440, height: 900 },
  medium: { width: 834, height: 1112 },
  narrow: { width: 390, height: 844 },
} as const;

/** English and German in every form; Chinese in two, for its fonts and its line breaks. */
const FORMS: readonly Form[] = [
  ...(['en-GB', 'de-DE'] as const).flatMap((locale) =>
    (['light', 'dark'] as const).flatMap((colorScheme) =>
      (['wide', 'medium', 'narrow'] as const).map((size) => formOf(size, colorScheme, locale)),
    ),
  ),
  formOf('wide', 'light', 'zh-CN'),
  formOf('narrow', 'dark', 'zh-CN'),
];

function formOf(size: keyof typeof SIZES, colorScheme: 'light' | 'dark', locale: string): Form {
  const name = `${size}-${colorScheme}-${locale.slice(0, 2)}`;
  return { name, colorScheme, viewport: SIZES[size], locale };
}

/** What the customers' origin shows without a session. */
const PUBLIC_PATHS = ['/', '/models', '/docs', '/docs/quickstart', '/docs/api'] as const;

const args = process.argv.slice(2);
const forms = FORMS.filter(
  ({ name }) => !args.some((arg) => FORMS.some((form) => form.name === arg)) || args.includes(name),
);
const realms = (['customer', 'operator'] as const).filter(
  (realm) => !args.some((arg) => arg in PREFIXES) || args.includes(realm),
);
const wanted = args.filter((arg) => arg.startsWith('/'));

/** The pictures of the README: a page of each application. */
const SHOWN = { width: 1_280, height: 780 };
const shownFolder = resolve(import.meta.dir, '../.readme');
const problems: string[] = [];
/** What pages link to, below the prefix: the console shows the requests of customers, too. */
const links = new Set<string>();

await using demo = await startDemo();
const browser = await launchChromium();
if (args.includes('--readme')) {
  for (const realm of realms) await show(browser, demo, realm);
} else {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const realm of realms) {
    for (const form of forms) await walk(browser, demo, realm, form);
  }
  if (realms.includes('customer')) for (const form of forms) await walkPublic(browser, demo, form);
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  process.stdout.write(`${folder}: ${problems.length} problems\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
await browser.close();

async function show(browser: Browser, demo: Demo, realm: Realm): Promise<void> {
  const origin = realm === 'customer' ? demo.gateway.url : demo.gateway.operatorUrl();
  const base = `${origin}${PREFIXES[realm]}`;
  const colorScheme = realm === 'customer' ? 'light' : 'dark';
  await using visitor = await openVisitor(browser, base, { colorScheme, viewport: SHOWN });
  await signInOn(visitor.page, demo, realm);
  await visitor.page.goto(`${base}${realm === 'customer' ? '/usage' : '/money'}`);
  await settle(visitor.page);
  const path = join(shownFolder, `${realm}.png`);
  const picture = toPalette(await visitor.page.screenshot());
  await Bun.write(path, picture);
  process.stdout.write(`${path}: ${picture.byteLength} bytes\n`);
}

/** Every page of one application in one form: first as a stranger sees it, then signed in. */
async function walk(browser: Browser, demo: Demo, realm: Realm, form: Form): Promise<void> {
  const pages = await readPages(realm);
  const origin = realm === 'customer' ? demo.gateway.url : demo.gateway.operatorUrl();
  const base = `${origin}${PREFIXES[realm]}`;
  await using visitor = await openVisitor(browser, base, form);
  let seen = 0;
  const visit = async (row: PageRow, path: string) => {
    await visitor.page.goto(`${base}${path}`);
    await settle(visitor.page);
    for (const link of await linksOn(visitor.page, PREFIXES[realm])) links.add(link);
    if (wanted.length > 0 && !wanted.includes(row.path)) return;
    seen = await keep(visitor, `${realm}${nameOf(row.path)}-${form.name}`, seen);
  };
  for (const row of pages.filter(({ signedOut }) => signedOut)) await visit(row, row.path);
  await signInOn(visitor.page, demo, realm);
  const inside = pages.filter(({ signedOut }) => !signedOut);
  for (const row of inside.filter(({ path }) => !path.includes(':'))) await visit(row, row.path);
  for (const row of inside.filter(({ path }) => path.includes(':'))) {
    const example = exampleOf(row.path, links);
    if (example === undefined) problems.push(`${realm} ${row.path}: no page links to one of these`);
    else await visit(row, example);
  }
}

/** The pages that the server writes itself. */
async function walkPublic(browser: Browser, { gateway }: Demo, form: Form): Promise<void> {
  await using visitor = await openVisitor(browser, gateway.url, form);
  let seen = 0;
  for (const path of PUBLIC_PATHS) {
    if (wanted.length > 0 && !wanted.includes(path)) continue;
    await visitor.page.goto(`${gateway.url}${path}`);
    seen = await keep(visitor, `public${nameOf(path)}-${form.name}`, seen);
  }
}

/** `seen` complaints of the visitor are known already; returns how many there are now. */
async function keep(visitor: Visitor, name: string, seen: number): Promise<number> {
  const { page } = visitor;
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
  const wider = await page.evaluate<boolean>(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );
  if (wider) problems.push(`${name}: the page is wider than the screen`);
  for (const finding of await visitor.accessibilityFindings()) problems.push(`${name}: ${finding}`);
  for (const complaint of visitor.complaints().slice(seen)) problems.push(`${name}: ${complaint}`);
  return visitor.complaints().length;
}

function nameOf(path: string): string {
  return path === '/' ? '-home' : path.replaceAll('/', '-').replaceAll(':', '');
}
