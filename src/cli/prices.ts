// `tollgate prices`: shows the price book of every model, and what other prices would have charged
// for past requests.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Command } from 'commander';
import type { PriceDraft } from '../catalog/price-draft.ts';
import { CatalogError } from '../catalog/source.ts';
import { isoTime, utcMonth } from '../core/calendar.ts';
import type { Catalog } from '../core/model.ts';
import { formatTokens, subtract } from '../core/money.ts';
import { wordsOf } from '../core/sentence.ts';
import { eachUsedRequest } from '../ledger/usage-records.ts';
import { requireUnarchived } from '../operations/archive/notices.ts';
import { requireModel } from '../operations/incidents.ts';
import {
  candidatePrices,
  laterModels,
  type Preview,
  preview,
  previewRecord,
} from '../operations/price-preview.ts';
import { priceSheet } from '../operations/price-sheet.ts';
import { loadNamedCatalog, warningLines } from './catalog.ts';
import {
  addCommand,
  addGroup,
  CommandError,
  type Output,
  type Perform,
  shortTime,
  table,
} from './command.ts';
import type { Context } from './context.ts';
import { changeOf } from './open-operations.ts';
import { parseTime, readSpan } from './period.ts';
import { priceSheetText } from './price-sheet.ts';

export function addPriceCommands(program: Command, perform: Perform): void {
  const prices = addGroup(
    program,
    'prices',
    'show prices, preview other prices, and publish drafts',
  );
  perform<ShowOptions>(
    addCommand(prices, 'show', 'show every price of the catalog, with its start and its hours')
      .option('--model <model>', 'only this model')
      .option('--at <time>', 'mark the prices that are effective then (default: now)'),
    showPrices,
  );
  perform<PreviewOptions>(
    addCommand(prices, 'preview', 'show what past requests would have cost with other prices')
      .option('--catalog <file>', 'the catalog to try; the server does not see it')
      .option('--draft <file>', 'prices to try in the current catalog: see publish')
      .option('--month <month>', 'requests of a month such as 2026-10 (default: the last one)')
      .option('--from <time>', 'requests from a day or an instant on')
      .option('--to <time>', 'requests before a day or an instant')
      .option('--account <account>', 'only the requests of this account')
      .option('--prices-at <time>', 'apply the prices that are effective then to all requests'),
    previewPrices,
  );
  perform<{ readonly dryRun?: true }>(
    addCommand(prices, 'publish <draft>', 'write drafted prices into the catalog file').option(
      '--dry-run',
      'print the file that would be written, and write nothing',
    ),
    publish,
  );
}

type ShowOptions = { readonly model?: string; readonly at?: string };

function showPrices(context: Context, options: ShowOptions): Output {
  const catalog = context.catalog();
  const atMs = parseTime(options.at, '--at') ?? context.clock();
  const models =
    options.model === undefined ? catalog.models : [requireModel(catalog, options.model)];
  return {
    json: priceSheet(catalog, models, atMs),
    text: priceSheetText(catalog, models, atMs),
  };
}

type PreviewOptions = {
  readonly catalog?: string;
  readonly draft?: string;
  readonly month?: string;
  readonly from?: string;
  readonly to?: string;
  readonly account?: string;
  readonly pricesAt?: string;
};

async function previewPrices(context: Context, options: PreviewOptions): Promise<Output> {
  const { candidate, pricesAt } = await loadCandidate(context, options);
  const span = readSpan(options) ?? utcMonth(utcMonth(context.clock()).fromMs - 1);
  const pricesAtMs = parseTime(options.pricesAt, '--prices-at') ?? pricesAt;
  const { database, accounts } = await context.openStore();
  const accountId =
    options.account === undefined ? undefined : (await accounts.find(options.account)).id;
  await requireUnarchived(database, span, accountId);
  const requests = eachUsedRequest(database, { ...span, accountId });
  const result = await preview(requests, candidatePrices(candidate, pricesAtMs));
  await requireUnarchived(database, span, accountId);
  const later = pricesAtMs === undefined ? laterModels(candidate, span.untilMs) : [];
  return {
    json: {
      from: isoTime(span.fromMs),
      to: isoTime(span.untilMs),
      account_id: accountId ?? null,
      prices_at: pricesAtMs === undefined ? null : isoTime(pricesAtMs),
      ...previewRecord(result),
      later_prices: later,
    },
    text: [
      `Requests from ${shortTime(span.fromMs)} to ${shortTime(span.untilMs)}, UTC; amounts are in service tokens.`,
      previewText(result),
      ...later.map(
        (slug) =>
          `${slug} has prices that begin after these requests; --prices-at applies them all the same.`,
      ),
    ].join('\n'),
  };
}

type Sum = Preview['totals'];

function previewText({ models, totals, unpriced }: Preview): string {
  const header = [
    'MODEL',
    'REQUESTS',
    'INPUT',
    'CACHED',
    'CACHE WRITE',
    'OUTPUT',
    'BOOKED',
    'WOULD BE',
    'DIFFERENCE',
    'LOSS',
  ];
  const row = (name: string, sum: Sum): string[] => {
    const { requests, input, cachedInput, cacheWrite, output } = sum;
    const amounts = [sum.booked, sum.wouldBe, subtract(sum.wouldBe, sum.booked), sum.loss];
    return [
      name,
      ...[requests, input, cachedInput, cacheWrite, output].map(String),
      ...amounts.map(formatTokens),
    ];
  };
  const rows = [...models].map(([model, sum]) => row(model, sum));
  const left = [...unpriced].map(
    ([model, { requests, booked }]) =>
      `${model} is not in that catalog: ${requests} requests, booked ${formatTokens(booked)}, are in no sum.`,
  );
  return [table(header, [...rows, row('total', totals)]), ...left].join('\n');
}

/**
 * Loads another file in place of the configured one, or a draft merged into it. The prices of a
 * draft begin in the future, so they are applied as if they had begun.
 */
async function loadCandidate(
  context: Context,
  { catalog, draft }: PreviewOptions,
): Promise<{ readonly candidate: Catalog; readonly pricesAt?: number | undefined }> {
  if ((catalog === undefined) === (draft === undefined)) {
    throw new CommandError('no_candidate', 'Give either --catalog or --draft.');
  }
  if (draft !== undefined) {
    const read = await readDraftFile(draft);
    const { lastStart, preparePrices } = await import('../operations/publish-prices.ts');
    const { catalog: candidate } = preparePrices(context.foundCatalog(), read, context.clock());
    return { candidate, pricesAt: lastStart(read) };
  }
  return { candidate: loadNamedCatalog(context, catalog, '--catalog').catalog };
}

/** Loads the editor of catalog files, which no other command needs. */
async function readDraftFile(path: string): Promise<PriceDraft> {
  const { readDraft } = await import('../catalog/price-draft.ts');
  try {
    return readDraft(readFileSync(path, 'utf8'), basename(path));
  } catch (error) {
    if (error instanceof CatalogError) throw error;
    throw new CommandError('no_draft', 'The draft cannot be read. Check its path.');
  }
}

async function publish(
  context: Context,
  options: { readonly dryRun?: true },
  path = '',
): Promise<Output> {
  const draft = await readDraftFile(path);
  const { draftSummary, preparePrices, publishPrices } = await import(
    '../operations/publish-prices.ts'
  );
  const found = context.foundCatalog();
  const prepared = preparePrices(found, draft, context.clock());
  const warnings = prepared.warnings.map(wordsOf);
  if (options.dryRun === true) {
    const { text, basedOn } = prepared;
    const lines = [text.trimEnd(), ...warningLines(warnings)];
    return { json: { based_on: basedOn, text, warnings }, text: lines.join('\n') };
  }
  const published = await publishPrices(
    await changeOf(context),
    found,
    prepared,
    draftSummary(draft),
  );
  return {
    json: { ...published, warnings },
    text: [
      `${published.path} is written. The previous file is ${published.backup}. A running server applies it within a second; check with tollgate catalog status.`,
      ...warningLines(warnings),
    ].join('\n'),
  };
}
