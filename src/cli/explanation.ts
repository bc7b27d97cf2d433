// The facts about one request as data and as text, for `tollgate explain`. Every amount is a
// decimal string of service tokens, printed from the integer that was booked.

import { isoTime } from '../core/calendar.ts';
import {
  formatDecimal,
  formatTokens,
  formatUsd,
  PICO_DECIMALS,
  type UsdRate,
} from '../core/money.ts';
import { charge, type Price } from '../core/price.ts';
import type { RequestStory } from '../ledger/explain.ts';
import { shortTime } from './command.ts';

type UsageRecord = NonNullable<RequestStory['record']>;

type Explanation = ReturnType<typeof explanation>;

export function explanation(story: RequestStory, usdPerMillion: UsdRate) {
  const { hold, record } = story;
  return {
    request_id: hold.requestId,
    account_id: hold.accountId,
    key_id: hold.keyId,
    hold: {
      phase: hold.phase,
      amount: formatTokens(hold.amount),
      estimated_prompt_tokens: hold.promptTokens,
      output_bound: hold.outputBound,
      price_version: hold.priceVersion,
      created_at: isoTime(hold.createdAt),
      ended_at: hold.endedAt === null ? null : isoTime(hold.endedAt),
    },
    model: { requested: hold.model, served: record?.modelServed ?? null },
    request: record === undefined ? null : requestFacts(record),
    usage: record === undefined ? null : usageFacts(record),
    calculations:
      record === undefined ? [] : story.prices.map((row) => calculation(hold.model, row, record)),
    booked: record === undefined ? null : bookedFacts(story, record, usdPerMillion),
    attempts: record === undefined ? [] : readAttempts(record.attempts),
  } as const;
}

function requestFacts(record: UsageRecord) {
  return {
    format: record.format,
    stream: record.stream,
    upstream: record.upstream,
    outcome: record.outcome,
    end_user: record.endUser,
    started_at: isoTime(record.startedAt),
    ended_at: isoTime(record.endedAt),
  } as const;
}

function usageFacts(record: UsageRecord) {
  return {
    basis: record.usageBasis,
    input_tokens: record.inputTokens,
    cached_input_tokens: record.cachedInputTokens,
    output_tokens: record.outputTokens,
    reasoning_tokens: record.reasoningTokens,
  } as const;
}

type PriceRow = RequestStory['prices'][number];

/** Usage times one price, bucket by bucket, and the total rounded once. */
function calculation(requested: string, row: PriceRow, record: UsageRecord) {
  const price: Price = row;
  const buckets = [
    ['input', record.inputTokens - record.cachedInputTokens - record.cacheWriteTokens, price.input],
    ['cached_input', record.cachedInputTokens, price.cachedInput],
    ['cache_write', record.cacheWriteTokens, price.cacheWrite],
    ['output', record.outputTokens, price.output],
  ] as const;
  const exact = buckets.reduce((sum, [, tokens, each]) => sum + BigInt(tokens) * each, 0n);
  return {
    model: row.model,
    used_for: row.model === requested ? 'requested' : 'served',
    price_version: row.version,
    buckets: buckets.map(([name, tokens, each]) => ({
      name,
      tokens,
      price: formatDecimal(each, PICO_DECIMALS),
      amount: formatDecimal(BigInt(tokens) * each, PICO_DECIMALS),
    })),
    exact: formatDecimal(exact, PICO_DECIMALS),
    rounded: formatTokens(charge({ ...record, basis: record.usageBasis }, price)),
  } as const;
}

function bookedFacts(story: RequestStory, record: UsageRecord, usdPerMillion: UsdRate) {
  return {
    charged: formatTokens(record.charged),
    debited: formatTokens(record.debited),
    debited_usd: formatUsd(record.debited, usdPerMillion),
    loss: formatTokens(record.loss),
    balance_after: story.balanceAfter === undefined ? null : formatTokens(story.balanceAfter),
    entries: story.entries.map((entry) => ({
      transfer_id: entry.transferId,
      ledger_account: entry.ledgerAccount,
      amount: formatTokens(entry.amount),
      at: isoTime(entry.at),
    })),
  } as const;
}

type AttemptFacts = {
  readonly upstream?: string;
  readonly model?: string;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly failure?: string;
  readonly detail?: string;
};

function readAttempts(text: string): readonly AttemptFacts[] {
  const attempts: unknown = JSON.parse(text);
  return Array.isArray(attempts) ? (attempts as readonly AttemptFacts[]) : [];
}

export function explanationText(facts: Explanation): string {
  const { hold, request, usage, booked } = facts;
  const lines = [
    `Request ${facts.request_id} of account ${facts.account_id}, key ${facts.key_id}`,
    `Model   ${facts.model.requested} requested, ${facts.model.served ?? 'none'} served`,
    `Hold    ${hold.amount} at price ${hold.price_version}: ${hold.estimated_prompt_tokens} prompt tokens estimated, at most ${hold.output_bound} of output; ${hold.phase}`,
  ];
  if (request === null || usage === null || booked === null) {
    return [...lines, 'The request is still under way; nothing is charged yet.'].join('\n');
  }
  lines.push(
    `Answer  ${request.format}${request.stream ? ', streamed' : ''}, ${request.started_at} to ${request.ended_at}, ${request.outcome}`,
    `Usage   ${usage.basis}: ${usage.input_tokens} input (${usage.cached_input_tokens} of them cached), ${usage.output_tokens} output (${usage.reasoning_tokens} of them reasoning)`,
  );
  for (const each of facts.calculations) {
    lines.push(`Price   ${each.price_version} of ${each.model} (${each.used_for})`);
    for (const bucket of each.buckets) {
      lines.push(`        ${bucket.name}: ${bucket.tokens} × ${bucket.price} = ${bucket.amount}`);
    }
    lines.push(`        total ${each.exact}, rounded half up to ${each.rounded}`);
  }
  if (facts.calculations.length > 1) lines.push('        The lower of the two is charged.');
  const after = booked.balance_after === null ? '' : `; balance after it ${booked.balance_after}`;
  lines.push(
    `Charged ${booked.charged}; debited ${booked.debited} (${booked.debited_usd} USD), loss of the gateway ${booked.loss}${after}`,
  );
  facts.attempts.forEach((attempt, index) => {
    lines.push(`Attempt ${index + 1}: ${attemptWords(attempt)}`);
  });
  return lines.join('\n');
}

function attemptWords(attempt: AttemptFacts): string {
  const where = `${attempt.upstream ?? 'unknown upstream'}, ${attempt.model ?? 'unknown model'}`;
  const { startedAt, endedAt } = attempt;
  const started = startedAt === undefined ? '' : `, ${shortTime(startedAt)}`;
  const lasted =
    startedAt === undefined || endedAt === undefined ? '' : `, ${endedAt - startedAt} ms`;
  const ended = [attempt.failure ?? 'served', attempt.detail].filter(Boolean).join(': ');
  return `${where}${started}${lasted}, ${ended}`;
}
