// One client of the crash test and its record: bytes with their times, when and how it left, and
// what it received. It speaks HTTP over a raw socket, so that it can leave at any byte.

import { connect } from 'node:net';
import { PATHS } from '../support/client.ts';
import { bodyOf, type Drawn } from './draw.ts';
import { countWords } from './setup.ts';

export type Target = { readonly url: string; readonly generation: number };

export type ClientEntry = {
  readonly drawn: Drawn;
  readonly generation: number;
  readonly sentAtMs: number;
  readonly received: { readonly atMs: number; readonly bytes: Buffer }[];
  /** The client left on purpose, for good. */
  left?: { readonly atMs: number };
  /** The answer was complete as HTTP goes. */
  complete: boolean;
  endedAtMs: number;
};

export type ClientWatch = {
  readonly onAsk: () => void;
  readonly onBill: () => void;
  readonly onLeave: () => void;
};

/** A client that is still waiting after this is a finding of its own. */
export const PATIENCE_MS = 25_000;

/** Sends the request and resolves when the exchange is over for the client, with any outcome. */
export function ask(
  target: Target,
  key: string,
  drawn: Drawn,
  watch: ClientWatch,
  patienceMs = PATIENCE_MS,
): Promise<ClientEntry> {
  const { hostname, port } = new URL(target.url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const { promise, resolve } = Promise.withResolvers<ClientEntry>();
  const entry: ClientEntry = {
    drawn,
    generation: target.generation,
    sentAtMs: Date.now(),
    received: [],
    complete: false,
    endedAtMs: 0,
  };
  let leaving = false;
  let length = 0;
  let tail = Buffer.alloc(0);
  let end: number | 'chunked' | undefined;

  const finish = () => {
    clearTimeout(patience);
    if (entry.endedAtMs !== 0) return;
    entry.endedAtMs = Date.now();
    resolve(entry);
  };
  const patience = setTimeout(() => socket.destroy(), patienceMs);

  socket.on('connect', () => {
    socket.write(requestBytes(key, drawn));
    watch.onAsk();
    if (drawn.leaving !== 'stay' && drawn.leaveAfterBytes === 0) {
      setTimeout(leave, drawn.leaveAfterMs);
    }
  });
  socket.on('data', (data) => {
    const bytes = Buffer.from(data);
    // Bytes after a client has closed its side do not count as received.
    if (entry.left !== undefined) return;
    entry.received.push({ atMs: Date.now(), bytes });
    length += bytes.length;
    if (bytes.includes('svc_tokens_debited')) watch.onBill();
    tail = Buffer.concat([tail, bytes]).subarray(-LAST_CHUNK.length);
    end ??= endOfAnswer(entry);
    if (end === 'chunked' ? tail.equals(LAST_CHUNK) : length >= (end ?? Infinity)) {
      entry.complete = true;
      socket.destroy();
      return;
    }
    if (drawn.leaving !== 'stay' && !leaving && length >= drawn.leaveAfterBytes) leave();
  });
  socket.on('end', () => socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.on('close', finish);

  function leave(): void {
    if (leaving || entry.endedAtMs !== 0) return;
    leaving = true;
    const { leaveAfterMs } = drawn;
    if (drawn.leaving === 'fin') {
      goWith(() => socket.end());
      return;
    }
    if (drawn.leaving === 'reset') {
      goWith(() => socket.resetAndDestroy());
      return;
    }
    socket.pause();
    setTimeout(() => {
      if (drawn.leaving === 'dawdle') socket.resume();
      else if (!socket.destroyed) goWith(() => socket.resetAndDestroy());
    }, leaveAfterMs * 20);
  }

  function goWith(close: () => void): void {
    entry.left = { atMs: Date.now() };
    close();
    watch.onLeave();
  }

  return promise;
}

function requestBytes(key: string, drawn: Drawn): string {
  const body = bodyOf(drawn);
  const lines = [
    `POST ${PATHS[drawn.format]} HTTP/1.1`,
    'host: gateway.test',
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    ...(drawn.isKeyed === true ? [`idempotency-key: ${drawn.mark}`] : []),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** What the client received of the cost, string by string as it came. */
export type Bill = {
  readonly debited: string;
  readonly usd: string;
  readonly balance: string | undefined;
  readonly outcome: string | undefined;
};

export type AnswerRead = {
  /** Undefined where not even the head was complete. */
  readonly status: number | undefined;
  readonly headers: ReadonlyMap<string, string>;
  /** The body without its framing, as far as it came. */
  readonly text: string;
  readonly words: number;
  /** Where the answer said its price: in its header, its body or its last event. */
  readonly bills: readonly Bill[];
};

/** The answer as far as the client had it by `untilMs`. */
export function readAnswer(entry: ClientEntry, untilMs = Number.POSITIVE_INFINITY): AnswerRead {
  const { status, headers, headLength, bytes } = readHead(entry, untilMs);
  const body = bytes.subarray(headLength);
  const text = headers.get('transfer-encoding') === 'chunked' ? unchunk(body) : body.toString();
  if (status === undefined) return { status, headers, text: '', words: 0, bills: [] };
  return { status, headers, text, words: countWords(text), bills: readBills(headers, text) };
}

const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');

/** Where the answer ends: after so many bytes, or with its last chunk; undefined without a head. */
function endOfAnswer(entry: ClientEntry): number | 'chunked' | undefined {
  const { status, headers, headLength } = readHead(entry);
  if (status === undefined) return undefined;
  const declared = headers.get('content-length');
  return declared === undefined ? 'chunked' : headLength + Number(declared);
}

function readHead(entry: ClientEntry, untilMs = Number.POSITIVE_INFINITY) {
  const pieces = entry.received.filter(({ atMs }) => atMs <= untilMs).map(({ bytes }) => bytes);
  const bytes = Buffer.concat(pieces);
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1)
    return { status: undefined, headers: new Map<string, string>(), headLength: 0, bytes };
  const [first = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  return { status: Number(first.split(' ')[1]), headers, headLength: headEnd + 4, bytes };
}

function unchunk(bytes: Buffer): string {
  const pieces: Buffer[] = [];
  for (let position = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', position);
    if (lineEnd === -1) break;
    const size = Number.parseInt(bytes.toString('latin1', position, lineEnd), 16);
    if (!(size > 0)) break;
    pieces.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    position = lineEnd + 2 + size + 2;
  }
  return Buffer.concat(pieces).toString();
}

function readBills(headers: ReadonlyMap<string, string>, text: string): Bill[] {
  const debited = headers.get('x-svc-tokens-debited');
  const fromHeader: Bill[] =
    debited === undefined
      ? []
      : [{ debited, usd: '', balance: headers.get('x-svc-balance'), outcome: undefined }];
  const bodies = text.startsWith('{')
    ? [text]
    : text.split('\n\n').slice(0, -1).flatMap(dataOfFrame);
  return [...fromHeader, ...bodies.flatMap((body) => findBills(parse(body)))];
}

function dataOfFrame(frame: string): string[] {
  const data = frame.split('\n').find((line) => line.startsWith('data: {'));
  return data?.includes('svc_tokens_debited') === true ? [data.slice('data: '.length)] : [];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A body that was cut: it proves nothing about the gateway.
    return undefined;
  }
}

/** Every object in `value` that has an amount: the same one may appear at two levels. */
function findBills(value: unknown): Bill[] {
  if (typeof value !== 'object' || value === null) return [];
  const fields = value as Readonly<Record<string, unknown>>;
  const text = (name: string) => (fields[name] === undefined ? undefined : String(fields[name]));
  const debited = text('svc_tokens_debited');
  const deeper = Object.values(fields).flatMap(findBills);
  if (debited === undefined) return deeper;
  const usd = text('svc_cost_usd') ?? '';
  const balance = text('svc_balance_tokens');
  return [{ debited, usd, balance, outcome: text('svc_outcome') }, ...deeper];
}
