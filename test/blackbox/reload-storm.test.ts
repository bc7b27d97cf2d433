// A thousand reloads of a running server, half of them invalid, while clients of both formats send
// streamed and whole requests. Every answer uses exactly one catalog: its model, price, limits and
// USD rate change together. Nothing is lost, fails or accumulates.

import { expect, test } from 'bun:test';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { type Format, generate, generateStream } from '../support/client.ts';
import { type Gateway, runCommand, startGateway, type TestAccount } from '../support/gateway.ts';
import { readBooks } from '../support/readable-books.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

const RELOADS = 1_000;

/** They make a catalog large enough for one that is kept to be seen in the memory. */
const MORE_MODELS = Array.from({ length: 100 }, (_, at) => `another-${at}`);

/** Between the low points of the reloads from 200 to 500 and of those from 700 on. */
const GROWTH_BYTES_MAX = 64 * 1_048_576;

/** What a client sees of one catalog. */
type Seen = {
  readonly model: unknown;
  readonly requestsPerMinute: unknown;
  readonly debited: unknown;
  readonly usd: unknown;
};

/** `wanted` is an alias, and of another model in each. 10 tokens in, 4 of them cached, and 5 out. */
const CATALOGS: readonly { readonly text: (upstream: Upstream) => string; readonly seen: Seen }[] =
  [
    {
      text: (upstream) => catalogWith(upstream, 'ok', '1', '2', '1.00', 100_000),
      seen: { model: 'ok', requestsPerMinute: '100000', debited: '16.4', usd: '0.0000164' },
    },
    {
      text: (upstream) => catalogWith(upstream, 'plain', '3', '7', '2.00', 200_000),
      seen: { model: 'plain', requestsPerMinute: '200000', debited: '53.4', usd: '0.0001068' },
    },
  ];

function catalogWith(
  upstream: Upstream,
  wanted: string,
  input: string,
  output: string,
  usdPerMillion: string,
  requestsPerMinute: number,
): string {
  return catalogFor(upstream, ['ok', 'plain', ...MORE_MODELS], {
    service: { usd_per_million: usdPerMillion },
    model: { price: { input, cached_input: '0.1', output } },
    models: { [wanted]: { aliases: ['wanted'] } },
    plans: { large: { ...LARGE_PLAN, requests_per_minute: requestsPerMinute } },
  });
}

/** Ways in which a catalog is wrong, each seen at another stage of reading it. */
const MISTAKES: readonly ((text: string) => string)[] = [
  (text) => text.slice(0, text.length - 40),
  (text) => text.replace('aliases', 'alias'),
  (text) => text.replace('output = "', 'output = "-'),
  (text) => text.replace('api_key = "', 'api_key = "${'),
  (text) => text.replace('upstream = "scripted"', 'upstream = "nowhere"'),
  () => '',
];

test('1,000 reloads under load leave every answer of one piece, and the books and memory whole', async () => {
  await using upstream = await startUpstream();
  const texts = CATALOGS.map(({ text }) => text(upstream));
  await using gateway = await startGateway({
    catalog: texts[0] ?? '',
    environment: { LOG_LEVEL: 'silent', LEDGER_SYNC: 'normal' },
  });
  const account = await gateway.createAccount({ plan: 'large', credit: 1_000_000_000 });

  let over = false;
  const seen = new Map<string, number>();
  const note = (each: Seen): void => {
    const text = JSON.stringify(each);
    seen.set(text, (seen.get(text) ?? 0) + 1);
  };
  const clients = (['chat', 'messages'] as const).flatMap((format) =>
    [wholeAnswer, streamedAnswer].map(async (ask) => {
      while (!over) note(await ask(account, format));
    }),
  );

  const memory: number[] = [];
  const reloading = reloadOverAndOver(gateway, texts, (done) => {
    memory[done] = residentBytes(gateway.pid);
  });
  await Promise.race([reloading, Promise.all(clients)]);
  over = true;
  await Promise.all(clients);

  expect([...seen.keys()].toSorted()).toEqual(
    CATALOGS.map((each) => JSON.stringify(each.seen)).toSorted(),
  );
  const growth = Math.min(...memory.slice(700)) - Math.min(...memory.slice(200, 500));
  expect(growth).toBeLessThan(GROWTH_BYTES_MAX);
  const status = await gateway.run('catalog', 'status');
  const { version } = status['catalog'] as { readonly version: number };
  expect(version).toBeGreaterThan(RELOADS / 2);
  await waitUntil(() => openHolds(gateway) === 0n);
  const { stdout } = await runCommand(gateway.directory, {}, ['doctor', '--json']);
  const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean }[] };
  expect(checks.find(({ name }) => name === 'ledger')?.ok).toBe(true);
  expect(await gateway.stop()).toBe(0);
}, 120_000);

/** A valid and an invalid catalog in turns, each waited for: signals that meet would be one. */
async function reloadOverAndOver(
  gateway: Gateway,
  texts: readonly string[],
  onReload: (done: number) => void,
): Promise<void> {
  const path = join(gateway.directory, 'catalog.toml');
  const database = readBooks(gateway.databasePath);
  const note = database.query<{ value: string }, []>(
    "SELECT value FROM server_notes WHERE name = 'catalog'",
  );
  const digests = texts.map((text) => new Bun.CryptoHasher('sha256').update(text).digest('hex'));
  for (let done = 1; done <= RELOADS; done += 1) {
    const which = (done >> 1) % 2;
    const text = texts[which] ?? '';
    const isValid = done % 2 === 0;
    const mistake = MISTAKES[(done >> 1) % MISTAKES.length];
    writeFileSync(`${path}.new`, isValid ? text : (mistake?.(text) ?? ''));
    renameSync(`${path}.new`, path);
    process.kill(gateway.pid, 'SIGHUP');
    await waitUntil(() => {
      const { digest, refused } = JSON.parse(note.get()?.value ?? '{}') as {
        readonly digest: string;
        readonly refused: unknown;
      };
      return isValid ? digest === digests[which] && refused === null : refused !== null;
    }, 10_000);
    onReload(done);
  }
  database.close();
}

async function wholeAnswer(account: TestAccount, format: Format): Promise<Seen> {
  const { headers, json } = await generate(account, format, 'wanted');
  const usage = (json['usage'] ?? {}) as Record<string, unknown>;
  expect(json['model'] ?? json['error']).toBe(headers.get('x-svc-model'));
  expect(usage['svc_tokens_debited']).toBe(headers.get('x-svc-tokens-debited'));
  return seenIn(headers, usage);
}

async function streamedAnswer(account: TestAccount, format: Format): Promise<Seen> {
  const { headers, events } = await generateStream(account, format, 'wanted');
  const bill = events.map(({ json }) => (json as { usage?: Record<string, unknown> })?.usage);
  const usage = bill.findLast((each) => each?.['svc_tokens_debited'] !== undefined) ?? {};
  return seenIn(headers, usage);
}

function seenIn(headers: Headers, usage: Readonly<Record<string, unknown>>): Seen {
  return {
    model: headers.get('x-svc-model'),
    requestsPerMinute: headers.get('x-ratelimit-limit-requests'),
    debited: usage['svc_tokens_debited'],
    usd: usage['svc_cost_usd'],
  };
}

function residentBytes(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? 0) * 1_024;
}

function openHolds(gateway: Gateway): bigint {
  const database = readBooks(gateway.databasePath, { safeIntegers: true });
  try {
    const row = database
      .query<{ open: bigint }, []>('SELECT count(*) AS open FROM holds WHERE ended_at IS NULL')
      .get();
    return row?.open ?? -1n;
  } finally {
    database.close();
  }
}
