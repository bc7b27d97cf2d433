// Every page of both applications in Chromium, over a database with 103,000 requests, 1,000 keys of
// one account and 5,000 end users: the time until the page shows its data. Then the memory of pages
// that show live feeds for as long as `--minutes` says, while requests come in.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchChromium, openVisitor } from '../../../test/support/browser.ts';
import { signInAs } from '../../../test/support/browser-session.ts';
import { post, requestBody } from '../../../test/support/client.ts';
import { createOperator, openSignUp, signUp } from '../../../test/support/customer.ts';
import { openMailbox } from '../../../test/support/mailbox.ts';
import { PREFIXES, type Realm } from '../../../test/support/session.ts';
import { exampleOf, linksOn, readPages, settle } from '../../screenshot-pages/pages.ts';
import type { BenchRow } from '../compare.ts';
import { HEAVY, HEAVY_KEY, writePast } from '../history.ts';
import { median } from '../measure.ts';
import { printTable, shown } from '../table.ts';

const PAST = { requests: 103_000, accounts: 200, days: 35, keys: 1_000, endUsers: 5_000 };
const TRIES = 5;
const SAMPLE_MS = 30_000;
const REQUEST_MS = 500;

type Credentials = { readonly email: string; readonly password: string };

export const browserRow: BenchRow = {
  name: 'browser',
  onDemand: true,
  run: async (rig) => {
    const [build] = rig.builds;
    const minutes = rig.minutes ?? 10;
    await using mailbox = await openMailbox();
    await using stack = new AsyncDisposableStack();
    const directory = await mkdtemp(join(tmpdir(), 'tollgate-browser-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    await writePast(directory, PAST);
    const subject = await rig.startBuild(build, { directory, environment: openSignUp(mailbox) });
    const { gateway } = stack.use(subject.gateway) && subject;
    const customer = await signUp(gateway, mailbox, `${HEAVY}@example.org`);
    const operator = await createOperator(gateway);
    const browser = await launchChromium();
    stack.defer(() => browser.close());
    const times = [
      ...(await timeRealm(browser, gateway.url, 'customer', customer)),
      ...(await timeRealm(browser, gateway.operatorUrl(), 'operator', operator)),
    ].sort((one, other) => other.medianMs - one.medianMs);
    printTable(
      ['page in Chromium, 103,000 requests', 'median ms', 'longest ms'],
      times.map(({ name, medianMs, longestMs }) => [name, shown(medianMs), shown(longestMs)]),
    );
    const target = { url: gateway.url, key: HEAVY_KEY };
    const feeds = await watchFeeds(browser, minutes, target, [
      { name: 'customer /', base: `${gateway.url}${PREFIXES.customer}`, who: customer },
      { name: 'operator /', base: `${gateway.operatorUrl()}${PREFIXES.operator}`, who: operator },
    ]);
    printTable(
      [`heap of a live page over ${minutes} minutes`, 'first MB', 'last MB', 'MB an hour'],
      feeds.map(({ name, first, last, perHour }) => [name, ...[first, last, perHour].map(mega)]),
    );
    return [];
  },
};

const mega = (bytes: number): string => shown(bytes / 1e6);

type PageTime = {
  readonly name: string;
  readonly medianMs: number;
  readonly longestMs: number;
};

/** Loads each page as a bookmark does, with the application in the browser's cache. */
async function timeRealm(
  browser: Browser,
  origin: string,
  realm: Realm,
  who: Credentials,
): Promise<readonly PageTime[]> {
  const base = `${origin}${PREFIXES[realm]}`;
  await using visitor = await openVisitor(browser, base);
  const { page } = visitor;
  await signInAs(page, realm, who);
  const rows = (await readPages(realm)).filter(({ signedOut }) => !signedOut);
  const links = new Set<string>();
  const times: PageTime[] = [];
  const time = async (path: string) => {
    const each: number[] = [];
    for (let turn = 0; turn <= TRIES; turn += 1) {
      const startedAt = performance.now();
      await page.goto(`${base}${path}`, { waitUntil: 'commit' });
      await settle(page);
      // The first load fills the caches.
      if (turn > 0) each.push(performance.now() - startedAt);
    }
    for (const link of await linksOn(page, PREFIXES[realm])) links.add(link);
    times.push({
      name: `${realm} ${path}`,
      medianMs: median(each),
      longestMs: Math.max(...each),
    });
  };
  for (const { path } of rows.filter((row) => !row.path.includes(':'))) await time(path);
  for (const { path } of rows.filter((row) => row.path.includes(':'))) {
    const example = exampleOf(path, links);
    if (example !== undefined) await time(example);
  }
  return times;
}

type Feed = { readonly name: string; readonly base: string; readonly who: Credentials };

type Growth = {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  /** Bytes an hour, by least squares. */
  readonly perHour: number;
};

async function watchFeeds(
  browser: Browser,
  minutes: number,
  target: Parameters<typeof post>[0],
  feeds: readonly Feed[],
): Promise<readonly Growth[]> {
  await using stack = new AsyncDisposableStack();
  const open: { readonly feed: Feed; readonly page: Page; readonly samples: number[] }[] = [];
  for (const feed of feeds) {
    const visitor = stack.use(await openVisitor(browser, feed.base));
    await signInAs(
      visitor.page,
      feed.base.endsWith('operator') ? 'operator' : 'customer',
      feed.who,
    );
    await settle(visitor.page);
    open.push({ feed, page: visitor.page, samples: [] });
  }
  const endsAt = Date.now() + minutes * 60_000;
  for (let turn = 0; Date.now() < endsAt; turn += 1) {
    if (turn % (SAMPLE_MS / REQUEST_MS) === 0) {
      for (const { page, samples } of open) samples.push(await heapBytes(page));
    }
    const body = requestBody('chat', 'swift-1', { stream: turn % 2 === 0 });
    await (await post(target, '/v1/chat/completions', body)).text();
    await Bun.sleep(REQUEST_MS);
  }
  return open.map(({ feed: { name }, samples }) => ({
    name,
    first: samples[0] ?? 0,
    last: samples.at(-1) ?? 0,
    perHour: slope(samples) * (3_600_000 / SAMPLE_MS),
  }));
}

async function heapBytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}

/** The growth per sample, by least squares over the second half: the first one fills caches. */
function slope(samples: readonly number[]): number {
  const late = samples.slice(Math.floor(samples.length / 2));
  const middle = (late.length - 1) / 2;
  const mean = late.reduce((sum, value) => sum + value, 0) / late.length;
  let above = 0;
  let below = 0;
  for (const [at, value] of late.entries()) {
    above += (at - middle) * (value - mean);
    below += (at - middle) ** 2;
  }
  return below === 0 ? 0 : above / below;
}
