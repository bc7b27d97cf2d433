// Requests with an `Idempotency-Key`, their answers as they came, and what an account has spent.

import { type Caller, type EveryFormat, get, PATHS, post, requestBody } from './client.ts';

export type KeyedAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
};

export type KeyedRequest = {
  readonly format?: EveryFormat;
  readonly stream?: boolean;
  readonly more?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
};

/** What a repeat may have in other words: when it was sent, and the limits then. */
const CHANGING = /^(?:date|x-ratelimit-.*|content-length|transfer-encoding|connection|keep-alive)$/;

/** The headers that a repeat has as the first answer had them. */
export function stable({ headers }: KeyedAnswer): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !CHANGING.test(name)));
}

export const isReplayed = ({ headers }: KeyedAnswer): boolean =>
  headers['x-svc-replayed'] === 'true';

export const codeOf = ({ text }: KeyedAnswer): unknown => JSON.parse(text).error.code;

/** Without a key where it is undefined. */
export function openKeyed(
  caller: Caller,
  key: string | undefined,
  model: string,
  { format = 'chat', stream = false, more, signal }: KeyedRequest = {},
): Promise<Response> {
  const body = requestBody(format, model, stream ? { stream, ...more } : more);
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
  return post(caller, PATHS[format], body, signal ? { headers, signal } : { headers });
}

export async function readKeyed(response: Response): Promise<KeyedAnswer> {
  const { status, headers } = response;
  return { status, headers: Object.fromEntries(headers), text: await response.text() };
}

export async function askKeyed(
  caller: Caller,
  key: string | undefined,
  model: string,
  asked: KeyedRequest = {},
): Promise<KeyedAnswer> {
  return readKeyed(await openKeyed(caller, key, model, asked));
}

/** Repeats until the first request has ended, as a client does that is refused while it runs. */
export async function askEnded(...asked: Parameters<typeof askKeyed>): Promise<KeyedAnswer> {
  for (;;) {
    const answer = await askKeyed(...asked);
    if (answer.status !== 409) return answer;
    await Bun.sleep(50);
  }
}

/** Of an account that began with `credit`, in service tokens. */
export async function spentBy(caller: Caller, credit: number): Promise<number> {
  const { json } = await get(caller, '/v1/account');
  const { total } = json['balance'] as { readonly total: string };
  return Math.round((credit - Number(total)) * 1e6) / 1e6;
}
