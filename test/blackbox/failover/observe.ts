// The observed and the expected result of one cell of the failure matrix, for the client, the
// upstreams and the ledger, as one object to compare.

import { expect } from 'bun:test';
import { readAnswerContent, reasonIn, usageIn } from '../../support/answer.ts';
import { HELLO } from '../../support/behaviours.ts';
import type { Books } from '../../support/books.ts';
import { UPSTREAM_KEY } from '../../support/catalog.ts';
import { get, PATHS, post, requestBody } from '../../support/client.ts';
import type { Story } from '../../support/explain.ts';
import type { TestAccount } from '../../support/gateway.ts';
import { parseEvents } from '../../support/sse.ts';
import type { Upstream } from '../../support/upstream.ts';
import { type Cell, SECOND, SPARE, transportOf } from './world.ts';

type Json = Readonly<Record<string, unknown>>;

export type Scene = {
  readonly upstream: Upstream;
  readonly books: Books;
  readonly canary: string;
  /** Cells whose client has got content. */
  readonly delivered: Set<string>;
  /** Borrows an account for exclusive use. */
  readonly withAccount: <T>(use: (account: TestAccount) => Promise<T>) => Promise<T>;
};

/** Asks for the cell's model as a customer, and looks everywhere. */
export function observe(scene: Scene, cell: Cell): Promise<Json> {
  return scene.withAccount(async (account) => {
    const before = await standingOf(account);
    const answer = await ask(scene, cell, account);
    const after = await standingOf(account);
    const story = await scene.books.story(answer.headers.get('x-request-id'));
    return {
      cell: labelOf(cell),
      ...toldOf(cell, answer, story),
      modelServed: answer.headers.get('x-svc-model'),
      retryAfter: answer.headers.get('retry-after'),
      ...attemptsOf(scene, cell, story),
      hold: story?.hold['phase'],
      outcome: story?.request?.['outcome'],
      paid: before.available - after.available,
      bookedAsPaid: micro(story?.booked?.['debited']) === before.available - after.available,
      priced: pricedOf(story),
      leftOpen: { inFlight: after.inFlight, reserved: after.reserved },
      leaks: leaksOf(scene, answer),
    };
  });
}

/** What a cell must show. */
export function expectedOf(cell: Cell) {
  const { row, behind, kind, id, dialect } = cell;
  const isLate = row.phase === 'late' && kind === 'stream';
  const common = {
    cell: labelOf(cell),
    ...UNASKED,
    ...NO_ERROR,
    failing: AS_ALLOWED,
    bookedAsPaid: true,
    priced: AS_USED,
    retryAfter: null,
    leftOpen: { inFlight: 0, reserved: '0' },
    leaks: [],
  };
  if (row.phase === 'mistake') {
    return {
      ...common,
      ...refused(row.code ?? ''),
      attempts: ['fails'],
      outcome: 'upstream_failed',
    };
  }
  if (isLate) {
    return {
      ...common,
      status: 200,
      ...failedWith('provider_unavailable'),
      models: [id],
      text: row.saysNothing === true ? '' : expect.stringContaining(HELLO),
      bill: AS_BOOKED,
      // A Responses stream that fails ends with a whole response, and its usage.
      fallbackUsed: cell.format === 'responses' ? false : undefined,
      modelServed: id,
      attempts: ['fails'],
      hold: 'settled',
      outcome: 'upstream_failed',
      paid: expect.any(Number),
    };
  }
  if (behind === 'none') {
    return {
      ...common,
      ...refused(row.code ?? 'provider_unavailable'),
      retryAfter: row.retryAfter === undefined ? null : String(row.retryAfter),
      attempts: ['fails'],
      outcome: 'upstream_failed',
    };
  }
  const isFallback = behind === 'fallback model';
  return {
    ...common,
    status: 200,
    finish: reasonIn(cell.format, 'stop'),
    models: [id],
    text: HELLO,
    bill: AS_BOOKED,
    fallbackUsed: kind === 'stream' ? isFallback : undefined,
    modelServed: isFallback ? `${SPARE}-${dialect}` : id,
    attempts: ['fails', isFallback ? SPARE : SECOND],
    [isFallback ? SPARE : SECOND]: 1,
    hold: 'settled',
    outcome: 'completed',
    // 6 of prompt, 4 cached and 5 of output; the fallback model costs half of that.
    paid: isFallback ? 8_200_000 : 16_400_000,
  };
}

const MICRO = 1_000_000;
const AS_BOOKED = 'as booked';
const AS_USED = 'by the tokens that were used';
const AS_ALLOWED = 'as often as its class allows';
const AS_ANSWERED = 'the one of the header';
const UNASKED = { [SECOND]: 0, [SPARE]: 0 };
const NO_ERROR = { code: undefined, type: undefined, requestId: undefined };

/** The status and the type of each error that a customer receives. */
const ERRORS: Readonly<Record<string, readonly [status: number, type: string]>> = {
  provider_unavailable: [503, 'overloaded_error'],
  invalid_request: [400, 'invalid_request_error'],
  context_length_exceeded: [400, 'invalid_request_error'],
  payload_too_large: [413, 'request_too_large'],
};

function failedWith(code: string) {
  return {
    code,
    type: ERRORS[code]?.[1],
    requestId: AS_ANSWERED,
    finish: undefined,
  };
}

function refused(code: string) {
  return {
    status: ERRORS[code]?.[0],
    ...failedWith(code),
    models: [],
    text: '',
    bill: undefined,
    fallbackUsed: undefined,
    modelServed: null,
    hold: 'released',
    paid: 0,
  };
}

function labelOf({ format, dialect, kind, behind }: Cell): string {
  return `${format} over ${dialect} by ${transportOf(format, dialect)}, ${kind}, behind it: ${behind}`;
}

type Answer = { readonly status: number; readonly headers: Headers; readonly body: string };

async function ask({ delivered }: Scene, cell: Cell, account: TestAccount): Promise<Answer> {
  const isStream = cell.kind === 'stream';
  if (!isStream) delivered.add(cell.id);
  const response = await post(
    account,
    PATHS[cell.format],
    requestBody(cell.format, cell.id, {
      stream: isStream,
      max_tokens: cell.kind === 'long' ? 8_000 : 100,
      messages: [{ role: 'user', content: promptOf(cell.id) }],
      // Without it thinking is no content of a Messages answer.
      ...(cell.format === 'messages' ? { thinking: { type: 'enabled' } } : {}),
    }),
  );
  const decoder = new TextDecoder();
  let body = '';
  for await (const bytes of response.body ?? []) {
    body += decoder.decode(bytes, { stream: true });
    if (body.includes('Hello')) delivered.add(cell.id);
  }
  return { status: response.status, headers: response.headers, body };
}

/** Names the cell in what healthy upstreams are asked, too. */
function promptOf(id: string): string {
  return `This is ${id}.`;
}

/**
 * What the body reports: an error, the models that it names, the text and why it ended, whether a
 * fallback model was used, the bill.
 */
function toldOf(cell: Cell, { status, headers, body }: Answer, story: Story | undefined) {
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  const events: readonly Json[] = isStream
    ? parseEvents(body).flatMap(({ json }) => json ?? [])
    : [JSON.parse(body)];
  const error = events.map((event) => event['error'] as Json | undefined).find(Boolean);
  const ends = events.flatMap((event) => [event, usageIn(event) ?? {}, error ?? {}]);
  const last = (field: string) => ends.map((each) => each[field]).findLast(isDefined);
  const bill = last('svc_tokens_debited');
  const { request_id: requestId } = error ?? {};
  const isAnswer = isStream || error === undefined;
  const said = isAnswer ? readAnswerContent(cell.format, body) : undefined;
  return {
    status,
    code: error?.['code'],
    type: error?.['type'],
    requestId: requestId === headers.get('x-request-id') ? AS_ANSWERED : requestId,
    models: [...new Set(body.match(/(?<="model":")[^"]*/g))],
    text: said?.text ?? '',
    finish: said?.reason,
    fallbackUsed: last('svc_fallback_used'),
    bill: bill === undefined || bill !== story?.booked?.['debited'] ? bill : AS_BOOKED,
  };
}

function isDefined(value: unknown): boolean {
  return value !== undefined;
}

/**
 * The attempts of the story in order: `fails` where they failed as the row says, else who it was and
 * how. And how many requests each upstream has really got; the failing one, where it is a door that
 * keeps no book, by the story.
 */
function attemptsOf({ upstream }: Scene, cell: Cell, story: Story | undefined) {
  const { id, row, dialect } = cell;
  const attempts = (story?.['attempts'] ?? []) as Json[];
  const names = attempts.map((attempt) => {
    const failure = String(attempt['failure'] ?? '');
    if (attempt['upstream'] === id && row.classes.includes(failure)) return 'fails';
    const [name] = String(attempt['upstream']).split('-');
    return failure === '' ? name : `${name}: ${failure}`;
  });
  const prompt = promptOf(id);
  const asked = (site: string) =>
    upstream.asked(site).filter(({ text }) => text.includes(prompt)).length;
  const explained = names.filter((name) => name === 'fails').length;
  const counted = row.door === undefined ? asked(id) : explained;
  const failing = attempts.slice(0, explained);
  const allowed = triesOf(cell, failing);
  const failure = String(failing.at(-1)?.['failure']);
  // A short timer may end an attempt before a busy upstream has read it; never is there one more.
  const mayMiss = row.stalls === true && failure === 'timeout';
  const isCounted = counted === allowed || (mayMiss && counted < allowed);
  return {
    attempts: names.filter((name, index) => name !== names[index - 1]),
    failing:
      explained === allowed && isCounted
        ? AS_ALLOWED
        : `${failure}: ${explained} times in the explanation, ${counted} in its own book, not ${allowed}`,
    second: asked(`${SECOND}-${dialect}`),
    spare: asked(`${SPARE}-${dialect}`),
  };
}

/**
 * How often a failing upstream is asked in one request. Each failure decides whether another attempt
 * follows: a flood of heads is malformed, but a busy gateway may first give up on it by its timer.
 */
function triesOf(cell: Cell, failures: readonly Json[]): number {
  const last = failures.findIndex(
    ({ failure, phase }, index) => triesAfter(cell, String(failure), phase) <= index + 1,
  );
  return last === -1 ? failures.length + 1 : last + 1;
}

/** The attempts that a failure allows in all. */
function triesAfter({ row, kind, behind }: Cell, failure: string, phase: unknown): number {
  if (row.phase === 'mistake' || (row.phase === 'late' && kind === 'stream')) return 1;
  // A connection that is lost is opened again; one that cannot be made is left to another upstream.
  const wasLost = failure === 'unreachable' && phase !== 'connect';
  if (behind !== 'none') return row.triesBefore ?? (wasLost ? 2 : 1);
  return row.triesAlone ?? TRIES_ALONE[failure] ?? 1;
}

/** Where no other upstream could answer: what may pass is asked for three times, the rest once. */
const TRIES_ALONE: Readonly<Record<string, number>> = {
  unreachable: 3,
  timeout: 3,
  overloaded: 3,
  server_error: 3,
  cut: 3,
};

/** Whether the charge is that of the usage in the books, at the price of who served. */
function pricedOf(story: Story | undefined): unknown {
  const usage = (story?.usage ?? {}) as Readonly<Record<string, number>>;
  const {
    input_tokens: input = 0,
    cached_input_tokens: cached = 0,
    output_tokens: output = 0,
  } = usage;
  const { charged, debited } = story?.booked ?? {};
  const { served } = (story?.['model'] ?? {}) as Json;
  const full = micro(input - cached) + micro(cached * 0.1) + micro(output * 2);
  const expected = String(served).startsWith(SPARE) ? full / 2 : full;
  const isFree = story?.hold['phase'] === 'released';
  const isRight = micro(debited) === (isFree ? 0 : expected) && charged === debited;
  return isRight ? AS_USED : { usage, charged, debited };
}

async function standingOf(account: TestAccount) {
  const { json } = await get(account, '/v1/account');
  const { available, reserved } = json['balance'] as Json;
  const { in_flight: inFlight } = json['usage'] as Json;
  return { available: micro(available), reserved, inFlight };
}

/** Which of the upstream's own words and names are in what the customer has got. */
function leaksOf({ canary, upstream }: Scene, { headers, body }: Answer): string[] {
  const all = `${JSON.stringify([...headers])}${body}`;
  const { host } = new URL(upstream.baseUrl);
  const secrets = [canary, UPSTREAM_KEY, host, 'scripted', 'nginx', 'The engine'];
  return secrets.filter((secret) => all.includes(secret));
}

/** Micro service tokens of a decimal string. */
function micro(tokens: unknown): number {
  return Math.round(Number(tokens) * MICRO);
}
