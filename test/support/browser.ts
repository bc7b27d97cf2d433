// Drives a real Chromium for page tests. One browser a test file, one visitor a test: each has its
// own cookies and collects the browser's complaints, so that a test can require that there are
// none.

import { afterAll, describe, setDefaultTimeout } from 'bun:test';
import { readFileSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

export type VisitorOptions = {
  readonly colorScheme?: 'light' | 'dark';
  readonly viewport?: { readonly width: number; readonly height: number };
  /** An IANA name; UTC by default. */
  readonly timeZone?: string;
  /** Such as `de-DE`; `en-GB` by default. */
  readonly locale?: string;
};

export type Visitor = {
  readonly page: Page;
  readonly context: BrowserContext;
  /**
   * What no page of ours does, each in one line: errors in the console and uncaught ones, reports of
   * the content security policy, requests to another origin than the first one. Refusals that a page
   * handles (4xx) are none, though the browser says so too.
   */
  readonly complaints: () => readonly string[];
  /** What a screen reader cannot use on the page as it is, serious and critical findings alone. */
  readonly accessibilityFindings: () => Promise<readonly string[]>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

export type TestBrowser = {
  readonly visit: (url: string, options?: VisitorOptions) => Promise<Visitor>;
};

const STEP_MS = 15_000;
/** Several steps, on a machine that does other things as well. */
const TEST_MS = 60_000;
const WIDE = { width: 1280, height: 800 };

/** scripts/install-browser looks for the same, in the same order. */
const PROGRAMS = [
  process.env['CHROMIUM_PATH'],
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
] as const;

/** The path of a Chromium of this machine. */
export function findChromium(): string | undefined {
  for (const program of PROGRAMS) {
    const path = program === undefined ? null : Bun.which(program);
    if (path !== null) return path;
  }
  return undefined;
}

/**
 * A group of tests with a browser. On a machine without one they are skipped, and say so; where CI
 * is true they fail, because there the hint would not be read.
 */
export function describeInBrowser(name: string, body: (browser: TestBrowser) => void): void {
  const path = findChromium();
  if (path === undefined && process.env['CI'] !== 'true') {
    process.stderr.write(`skipped, as there is no Chromium: ${name}\n`);
  }
  setDefaultTimeout(TEST_MS);
  const skipped = path === undefined && process.env['CI'] !== 'true';
  describe.skipIf(skipped)(name, () => {
    let launched: Promise<Browser> | undefined;
    const browser = () => {
      launched ??= launchChromium(path);
      return launched;
    };
    afterAll(async () => (await launched)?.close());
    body({ visit: async (url, options) => openVisitor(await browser(), url, options) });
  });
}

/** Its sandbox needs what containers do not give; it sees nothing but pages of ours. */
export function launchChromium(path: string | undefined = findChromium()): Promise<Browser> {
  if (path === undefined) {
    throw new Error('There is no Chromium. Run scripts/test once, or name one in CHROMIUM_PATH.');
  }
  return chromium.launch({
    executablePath: path,
    headless: true,
    chromiumSandbox: false,
    args: ['--disable-background-networking', '--disable-component-update', '--no-first-run'],
  });
}

/** Runs in pages, where the debugger puts it. */
const TELL_POLICY_REPORTS = `document.addEventListener('securitypolicyviolation', (event) => {
  const { violatedDirective, blockedURI } = event;
  tellPolicyReport('policy: ' + violatedDirective + ' refused ' + blockedURI + ' on ' + location.pathname);
})`;

/** Opens a page of a visitor who has never been here. */
export async function openVisitor(
  browser: Browser,
  url: string,
  options: VisitorOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext({
    colorScheme: options.colorScheme ?? 'light',
    viewport: options.viewport ?? WIDE,
    timezoneId: options.timeZone ?? 'UTC',
    locale: options.locale ?? 'en-GB',
    reducedMotion: 'reduce',
    acceptDownloads: true,
  });
  // Shorter than a test may take: a test that is cut off has no words for what it waited for.
  context.setDefaultTimeout(STEP_MS);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const complaints: string[] = [];
  const { origin } = new URL(url);
  const complain = (complaint: string) => complaints.push(complaint);
  await context.exposeFunction('tellPolicyReport', complain);
  await context.addInitScript({ content: TELL_POLICY_REPORTS });
  context.on('console', (message) => {
    if (message.type() !== 'error' || isHandledRefusal(message.text())) return;
    complain(`console: ${message.text()} on ${message.location().url}`);
  });
  context.on('weberror', (error) => complain(`uncaught: ${error.error().message}`));
  context.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (asked === origin || protocol === 'data:' || protocol === 'blob:') return;
    complain(`request: ${request.url()} is another origin than ${origin}`);
  });
  const page = await context.newPage();
  await page.goto(url);
  return {
    page,
    context,
    complaints: () => complaints,
    accessibilityFindings: () => runAxe(page),
    [Symbol.asyncDispose]: () => context.close(),
  };
}

function isHandledRefusal(text: string): boolean {
  return /^Failed to load resource: the server responded with a status of 4\d\d/.test(text);
}

type AxeResult = {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly help: string;
    readonly nodes: readonly { readonly target: readonly unknown[] }[];
  }[];
};

const GRAVE = ['serious', 'critical'];

/** It comes in through the debugger: the policy of the page lets no script of ours in. */
async function runAxe(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axeSource());
  const { violations } = await page.evaluate<AxeResult>('axe.run(document)');
  return violations
    .filter(({ impact }) => impact !== null && GRAVE.includes(impact))
    .map(({ id, help, nodes }) => {
      const first = nodes[0]?.target.join(' ') ?? '';
      return `${id}: ${help} (${nodes.length}, such as ${first})`;
    });
}

function axeSource(): string {
  return readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
}
