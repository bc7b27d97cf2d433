// `tollgate explain REQUEST_ID`: explains a charge from the books alone, or a refusal. The figures
// are recomputed from usage and prices, so a difference would show; this file formats them.

import type { Command } from 'commander';
import { PLAYGROUND_KEY_ID } from '../core/id.ts';
import type { AttemptFacts, UpstreamCosts } from '../operations/attempt-facts.ts';
import type { Explanation } from '../operations/explanation.ts';
import type { explainRefusal } from '../operations/requests.ts';
import { addCommand, type Output, type Perform } from './command.ts';
import type { Context } from './context.ts';

type Usage = NonNullable<Explanation['usage']>;
type Booked = NonNullable<Explanation['booked']>;

/** What each doubt about a report means, and how it was handled. */
const DOUBTS: Readonly<Record<NonNullable<Usage['doubt']>, string>> = {
  malformed: 'not charged: a count is missing or invalid',
  inconsistent: 'not charged: its counts do not add up to their total',
  implausible:
    'not charged as such: it is more than the model could have read, or was allowed to write; the larger of our count and the bound of the request is charged',
  zero: 'charged as it is, although there was something to count',
  service_tier: 'charged as the ordinary tier: the price has no factor for the one it names',
};

export function addExplainCommand(program: Command, perform: Perform): void {
  perform(
    addCommand(program, 'explain <request>', 'explain the charge of a request, or its refusal'),
    explain,
  );
}

async function explain(context: Context, _options: object, requestId = ''): Promise<Output> {
  const store = await context.openStore();
  // Not loaded by other commands.
  const { explainRequest, explainRefusal } = await import('../operations/requests.ts');
  const refused = await explainRefusal(store, requestId);
  if (refused !== undefined) return { json: refused, text: refusalText(refused) };
  const facts = await explainRequest(store, context.catalog(), requestId);
  return { json: facts, text: explanationText(facts) };
}

/** A refused request, or several equal ones of a minute. */
function refusalText(refused: NonNullable<Awaited<ReturnType<typeof explainRefusal>>>): string {
  const { account_id: account, key_id: key, model, route, problem } = refused;
  return [
    `Request ${refused.request_id} of account ${account ?? 'none'}, key ${key ?? 'unknown'}`,
    `Model   ${model ?? 'none'} requested, by ${route}; no upstream was asked`,
    `Refused with status ${problem.status}, ${problem.code}: ${problem.message} ${problem.what_to_do}`,
    `        ${refused.count} equal, ${refused.started_at} to ${refused.last_at}`,
  ].join('\n');
}

export function explanationText(facts: Explanation): string {
  const { request, usage, booked } = facts;
  const asker = facts.key_id === PLAYGROUND_KEY_ID ? 'from the playground' : `key ${facts.key_id}`;
  const lines = [
    `Request ${facts.request_id} of account ${facts.account_id}, ${asker}`,
    `Model   ${facts.model.requested} requested, ${facts.model.served ?? 'none'} served`,
    ...holdLines(facts.hold),
  ];
  if (request === null || usage === null || booked === null) {
    return [...lines, 'The request is still running; nothing is charged yet.'].join('\n');
  }
  const answer = `${request.format}${request.stream ? ', streamed' : ''}`;
  lines.push(
    `Answer  ${answer}, ${request.started_at} to ${request.ended_at}, ${request.outcome}`,
    ...problemLines(facts.problem),
    ...facts.attempts.flatMap((attempt, index) => attemptLines(attempt, index + 1)),
    ...usageLines(usage),
    ...priceLines(facts),
    ...bookedLines(booked),
    ...costLines(facts.upstream_costs),
  );
  const { receipt } = facts;
  if (receipt !== null) lines.push(`Receipt ${receipt.sequence} of the account, ${receipt.hash}`);
  return lines.join('\n');
}

function holdLines(hold: Explanation['hold']): string[] {
  const grown = hold.grown_by === '0' ? '' : ` and ${hold.grown_by} more, ${hold.amount} in all`;
  const lines = [
    `Hold    ${hold.first_amount}${grown}, at price ${hold.price_version}: ${hold.estimated_prompt_tokens} prompt tokens estimated, at most ${hold.output_bound} of output; ${hold.phase}`,
    `        ${hold.created_at} held`,
  ];
  const { checkpoint } = hold;
  if (checkpoint !== null) {
    lines.push(
      `        ${checkpoint.at} last checkpoint: ${checkpoint.output_tokens} output (${checkpoint.reasoning_tokens} of them reasoning) of ${checkpoint.upstream}, ${checkpoint.model}`,
    );
  }
  if (hold.ended_at !== null) lines.push(`        ${hold.ended_at} ${hold.phase}`);
  return lines;
}

function problemLines(problem: Explanation['problem']): string[] {
  if (problem === null) return [];
  const { status, code, cause, message } = problem;
  const received = status === null ? 'no status' : `status ${status}, ${code}`;
  return [`Failed  ${cause}; the client received ${received}: ${message}`];
}

function usageLines(usage: Usage): string[] {
  const { cached_explicit_tokens: explicit, cache_write_long_tokens: long } = usage;
  const marked = explicit === undefined ? '' : `, ${explicit} by explicit marks`;
  const kept = long === undefined ? '' : `, ${long} for an hour or longer`;
  const input = `${usage.input_tokens} input (${usage.cached_input_tokens} of them cached${marked}, ${usage.cache_write_tokens} written to the cache${kept})`;
  const output = `${usage.output_tokens} output (${usage.reasoning_tokens} of them reasoning)`;
  const lines = [`Usage   ${usage.basis ?? 'none'}: ${input}, ${output}`];
  if (usage.basis === 'recovered') {
    lines.push(
      '        The gateway crashed before the request ended; these are its last known counts.',
    );
  }
  const { doubt, reported } = usage;
  const words = doubt === null ? '' : ` (${doubt}; ${DOUBTS[doubt]})`;
  if (reported !== null)
    lines.push(`        the upstream reported ${JSON.stringify(reported)}${words}`);
  else if (usage.basis === 'estimated') lines.push('        there is no final report');
  const numbers = Object.entries(usage.estimate ?? {}).map(([name, value]) => `${name} ${value}`);
  if (numbers.length > 0) lines.push(`        an estimate of ${numbers.join(', ')}`);
  return lines;
}

function priceLines({ calculations }: Explanation): string[] {
  const lines = calculations.flatMap((each) => [
    `Price   ${each.price_version} of ${each.model} (${each.used_for})${tierWords(each)}`,
    ...each.buckets.map(({ name, tokens, price, amount }) => {
      return `        ${name}: ${tokens} × ${price} = ${amount}`;
    }),
    ...(each.service_tier === undefined
      ? []
      : [`        service tier ${each.service_tier.name}: × ${each.service_tier.factor}`]),
    `        total ${each.exact}, rounded half up to ${each.rounded}`,
  ]);
  if (calculations.length > 1) lines.push('        The lower of the two is charged.');
  return lines;
}

function tierWords({ tier_above_tokens: bound }: Explanation['calculations'][number]): string {
  return bound === undefined ? '' : `, for prompts above ${bound} tokens`;
}

function bookedLines(booked: Booked): string[] {
  return [
    `Charged ${booked.charged}; debited ${booked.debited} (${booked.debited_usd} USD), loss of the gateway ${booked.loss}; balance after it ${booked.balance_after}`,
    ...booked.entries.map(({ transfer_id: transfer, ledger_account: account, amount }) => {
      return `        ${transfer}: ${amount} to ${account}`;
    }),
  ];
}

/** The second line has what records of older versions lack, the third what the upstream said. */
function attemptLines(attempt: AttemptFacts, number: number): string[] {
  const { upstream, model, started_at: startedAt, duration_ms: durationMs } = attempt;
  const where = `${upstream ?? 'unknown upstream'}, ${model ?? 'unknown model'}`;
  const started = startedAt === null ? '' : `, ${startedAt}`;
  const lasted = durationMs === null ? '' : `, ${durationMs} ms`;
  const more = [whomWords(attempt), timeWords(attempt), usageWords(attempt)].filter(Boolean);
  const { said } = attempt;
  const heard =
    said === null
      ? []
      : [`        ${said.exact ? 'it said' : 'it said at that time'}: ${said.words}`];
  const first = `Attempt ${number}: ${where}${started}${lasted}, ${endWords(attempt)}`;
  return [first, ...(more.length === 0 ? [] : [`        ${more.join('; ')}`]), ...heard];
}

function endWords({ failure, phase, detail }: AttemptFacts): string {
  if (failure === null) return 'served';
  const place = phase === null ? '' : ` (${phase})`;
  return `${failure}${place}${detail === null ? '' : `: ${detail}`}`;
}

function whomWords({ model, upstream_model: name, credential }: AttemptFacts): string {
  const called = name === null || name === model ? '' : `as ${name}`;
  return [called, credential === null ? '' : `credential ${credential}`].filter(Boolean).join(', ');
}

function timeWords({ first_byte_ms: byteMs, first_content_ms: contentMs }: AttemptFacts): string {
  if (byteMs === null) return '';
  return `first byte after ${byteMs} ms${contentMs === null ? '' : `, content after ${contentMs} ms`}`;
}

function usageWords({ usage, cost, reported_cost_usd: usd }: AttemptFacts): string {
  if (usage === null) return '';
  const { input_tokens: input, output_tokens: output, basis } = usage;
  const priced = cost === null ? '' : `, costs ${cost}`;
  const reported = usd === undefined ? '' : `, ${usd} USD by its own report`;
  return `${input} input and ${output} output ${basis ?? 'unknown'}${priced}${reported}`;
}

function costLines(costs: UpstreamCosts | null): string[] {
  if (costs === null) return [];
  const { total, margin } = costs;
  const left =
    margin === null ? 'and what upstreams without a cost in the catalog ask' : `margin ${margin}`;
  return [`Cost    ${total} of the upstreams; ${left}`];
}
