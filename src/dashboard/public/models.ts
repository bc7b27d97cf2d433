// Models and prices as strangers see them: the table of the landing page, and the page of all
// models with announced prices.

import { modelRecord } from '../../catalog/model-record.ts';
import type { Catalog } from '../../core/model.ts';
import type { ModelRecord, PriceWindowRecord } from '../records/model.ts';
import { LOCALES } from '../texts/translate.ts';
import { entrances, html, type PublicContext, type PublicPage } from './frame.ts';

/** As a visitor without a plan sees them. */
export function listedModels(catalog: Catalog, nowMs: number): readonly ModelRecord[] {
  return catalog.models.map((model) => modelRecord(model, catalog, {}, undefined, nowMs));
}

export function modelsPage(context: PublicContext, models: readonly ModelRecord[]): PublicPage {
  const { t, service } = context;
  const description = t('Models of {name}, and what a million tokens cost.', {
    name: service.name,
  });
  return {
    title: t('Models'),
    path: '/models',
    description,
    content: `<section class="public-part">
<div><h1>${html(t('Models and prices'))}</h1>
<p class="soft">${html(priceNote(context))}</p></div>
${modelTable(context, models, true)}
<div class="row">${entrances(context, 'button').join('\n')}</div>
</section>`,
  };
}

/** The unit of all prices of a page. */
export function priceNote({ t, service }: PublicContext): string {
  return t('Prices per 1M tokens in {currency}. Output includes reasoning.', {
    currency: service.currency.code,
  });
}

export function modelTable(
  context: PublicContext,
  models: readonly ModelRecord[],
  isWhole: boolean,
): string {
  const { t } = context;
  const numbers = [t('Context'), t('Input'), t('Cached input'), t('Output')];
  const rows = models.map((model) => modelRow(context, model, isWhole));
  return `<div class="card flush public-models"><table>
<caption class="sr-only">${html(t('Models and prices'))}</caption>
<thead><tr><th scope="col">${html(t('Model'))}</th>${numbers
    .map((label) => `<th scope="col" class="end">${html(label)}</th>`)
    .join('')}</tr></thead>
<tbody>
${rows.join('\n')}
</tbody></table></div>`;
}

function modelRow(context: PublicContext, model: ModelRecord, isWhole: boolean): string {
  const { t, language } = context;
  const { pricing } = model;
  const numbers: readonly (readonly [string, string])[] = [
    [t('Context'), new Intl.NumberFormat(LOCALES[language]).format(model.context_window)],
    [t('Input'), rateText(context, pricing.input)],
    [t('Cached input'), rateText(context, pricing.cached_input)],
    [t('Output'), rateText(context, pricing.output)],
  ];
  const about = isWhole && model.description !== '' ? `<p>${html(model.description)}</p>` : '';
  const schedule = isWhole ? scheduleOf(context, model) : [];
  const announced =
    schedule.length === 0
      ? ''
      : `<ul class="plain soft small">${schedule.map((text) => `<li>${html(text)}</li>`).join('')}</ul>`;
  const cells = numbers.map(
    ([label, value]) => `<td class="end nowrap" data-label="${html(label)}">${html(value)}</td>`,
  );
  return `<tr><th scope="row"><span class="model">${html(model.display_name)}</span> <code>${html(model.id)}</code>
<span class="soft small">${html(capabilities(context, model))}</span>${about}${announced}</th>${cells.join('')}</tr>`;
}

function capabilities({ t }: PublicContext, { features }: ModelRecord): string {
  return [
    features.tools && t('tools'),
    features.json_mode && t('JSON'),
    features.vision && t('images'),
    features.reasoning && t('reasoning'),
    features.prompt_cache && t('prompt cache'),
  ]
    .filter((word) => word !== false)
    .reduce((first, next) => (first === '' ? next : t('{first}, {next}', { first, next })), '');
}

/** Other prices: for long prompts, at some hours of the current period, and from an announced time on. */
function scheduleOf(context: PublicContext, { pricing }: ModelRecord): string[] {
  const { t, language } = context;
  const weekdays = (days: PriceWindowRecord['days']) =>
    days.length === 7
      ? t('every day')
      : new Intl.ListFormat(LOCALES[language], { style: 'short' }).format(
          days.map((day) => weekdayName(day, LOCALES[language])),
        );
  return pricing.schedule.flatMap((period, index) => {
    const from =
      index === 0 || period.valid_from === null
        ? []
        : [
            t('From {time} UTC: input {input}, output {output}', {
              time: timeText(period.valid_from, LOCALES[language]),
              input: rateText(context, period.input),
              output: rateText(context, period.output),
            }),
          ];
    const hours = period.windows.map((window) =>
      t('{from} to {to} UTC, {days}: input {input}, output {output}', {
        from: window.from,
        to: window.to,
        days: weekdays(window.days),
        input: rateText(context, window.input),
        output: rateText(context, window.output),
      }),
    );
    const tiers = (index === 0 ? (period.tiers ?? []) : []).map((tier) =>
      t('Prompts above {tokens} tokens: input {input}, output {output}', {
        tokens: new Intl.NumberFormat(LOCALES[language]).format(tier.above_tokens),
        input: rateText(context, tier.input),
        output: rateText(context, tier.output),
      }),
    );
    return [...tiers, ...from, ...hours];
  });
}

const WEEK = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

function weekdayName(day: string, locale: string): string {
  // The first of January 2023 was a Sunday.
  const date = Date.UTC(2023, 0, 1 + WEEK.indexOf(day));
  return new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' }).format(date);
}

function timeText(iso: string, locale: string): string {
  const style = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const;
  return new Intl.DateTimeFormat(locale, style).format(Date.parse(iso));
}

/** A price of a million tokens in the currency of the pages, with every digit. */
function rateText({ language, service }: PublicContext, usd: string): string {
  const { code, per_usd: perUsd } = service.currency;
  return new Intl.NumberFormat(LOCALES[language], {
    style: 'currency',
    currency: code,
    currencyDisplay: code === 'USD' ? 'narrowSymbol' : 'symbol',
    maximumFractionDigits: 12,
  }).format(Number(usd) * Number(perUsd));
}
