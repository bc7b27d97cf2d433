// The answer of a request with an `Idempotency-Key` while it is produced, and its stored form. The
// first client and all repeats read the same bytes, each at its own pace.

import { ClientStream } from '../generate/client-stream.ts';
import {
  BEGINNING,
  type Cursor,
  Transcript,
  type TranscriptOptions,
} from '../idempotency/transcript.ts';

/** What precedes the body of an answer. */
type AnswerHead = {
  readonly requestId: string;
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly isStream: boolean;
};

/** An answer that repeats get: complete, or growing. */
export type Recorded = { readonly head: AnswerHead; readonly transcript: Transcript };

/**
 * answer   it has begun; `own` are the headers for the first client
 * over     a repeat is tried again; `response` is for the first client
 * beaten   another node runs the first request
 */
export type Begun =
  | ({ readonly kind: 'answer'; readonly own: Headers } & Recorded)
  | { readonly kind: 'over'; readonly response: Response }
  | { readonly kind: 'beaten' };

export class Recording {
  readonly fingerprint: Uint8Array;
  readonly #begun = Promise.withResolvers<Begun>();
  readonly #ended = Promise.withResolvers<void>();
  readonly begun = this.#begun.promise;
  /** Resolves when its answer is stored, or its row removed. */
  readonly ended = this.#ended.promise;
  /** Later calls have no effect. */
  readonly begin = this.#begun.resolve;
  readonly end = this.#ended.resolve;
  readonly #transcript: Transcript;
  #head: AnswerHead | undefined;
  #isFinal: boolean | undefined;

  constructor(fingerprint: Uint8Array, options: TranscriptOptions) {
    this.fingerprint = fingerprint;
    this.#transcript = new Transcript(options);
  }

  /** Ends the answer for its readers, incomplete. */
  cut(): void {
    this.#transcript.cut();
  }

  size(): number {
    return this.#transcript.size();
  }

  /** Whether its answer has ended and a repeat is tried again, as soon as its row is removed. */
  isOver(): boolean {
    return this.#isFinal === false;
  }

  /**
   * Records a response to its end. A failure that is tried again is for its client alone. `isFinal`
   * returns undefined where that is not booked.
   */
  async record(
    requestId: string,
    response: Response,
    isFinal: () => boolean | undefined,
  ): Promise<void> {
    if (!response.ok && !isFinal()) {
      this.begin({ kind: 'over', response });
      return;
    }
    const transcript = this.#transcript;
    const head = headOf(requestId, response);
    const begun = { kind: 'answer', head, transcript, own: response.headers } as const;
    this.#head = head;
    if (head.isStream) {
      this.begin(begun);
      await this.#copy(response.body);
      this.#isFinal = isFinal();
      transcript.end();
    } else {
      transcript.fill(await response.bytes());
    }
    this.begin(begun);
  }

  /** The form in which it is stored; undefined if it is incomplete. */
  packed(): Uint8Array | undefined {
    const transcript = this.#transcript;
    const head = this.#head;
    if (head === undefined || transcript.isCut()) return undefined;
    return packAnswer({ head, transcript });
  }

  /** Reads a body to its end; cancels it where the transcript is full. */
  async #copy(body: ReadableStream<Uint8Array> | null): Promise<void> {
    const transcript = this.#transcript;
    const reader = body?.getReader();
    while (reader !== undefined) {
      const { done, value } = await reader.read();
      if (done) break;
      if (transcript.append(value)) continue;
      await reader.cancel();
      break;
    }
  }
}

/** A recorded answer waits in memory and holds no place at an upstream. */
const STALL_MS = 60_000;

/** The headers that belong to one response, and not to the answer. */
const OWN_HEADERS = /^(?:x-ratelimit-.*|connection|content-length|date)$/;

function headOf(requestId: string, { status, headers }: Response): AnswerHead {
  const kept = [...headers].filter(([name]) => !OWN_HEADERS.test(name));
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  return { requestId, status, headers: kept, isStream };
}

/** The head as JSON, a line break, and the compressed transcript. */
function packAnswer({ head, transcript }: Recorded): Uint8Array {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), transcript.pack()]);
}

/** The content was sealed, so it needs no checks. */
export function unpackAnswer(packed: Uint8Array): Recorded {
  const end = packed.indexOf(0x0a);
  const head = JSON.parse(Buffer.from(packed.subarray(0, end)).toString()) as AnswerHead;
  return { head, transcript: Transcript.unpack(packed.subarray(end + 1)) };
}

/**
 * A stream that follows the transcript from its beginning. `onEnd` is called once, when nothing more
 * is read from it: the client has it all, disconnected or stalled.
 */
export function follow(
  transcript: Transcript,
  signal: AbortSignal,
  onEnd: () => void,
): ClientStream {
  return serveReader(signal, onEnd, (client) => pour(transcript, client));
}

/** A stream that `write` fills while its client is there, and that ends with it. */
export function serveReader(
  signal: AbortSignal,
  onEnd: () => void,
  write: (client: ClientStream) => Promise<void>,
): ClientStream {
  const client = new ClientStream(onEnd, STALL_MS);
  const leave = (): void => client.leave();
  const run = async (): Promise<void> => {
    await write(client);
    if (client.gone()) return;
    onEnd(); // It may limit how long the client is silent, which has no effect behind the close.
    client.close('');
  };
  if (signal.aborted) client.leave();
  signal.addEventListener('abort', leave, { once: true });
  run()
    .catch(() => client.cut('The answer could not be read.'))
    .finally(() => signal.removeEventListener('abort', leave));
  return client;
}

/** Writes a transcript to a client, at the pace of both. */
export async function pour(
  transcript: Transcript,
  client: ClientStream,
  from = BEGINNING,
): Promise<void> {
  for (let cursor = from; !client.gone(); ) {
    const changed = transcript.changed();
    const { bytes, next } = transcript.read(cursor);
    cursor = next;
    if (bytes !== undefined) await client.write(bytes);
    else if (transcript.isComplete()) break;
    else await changed;
  }
  if (transcript.isCut()) client.cut('The answer is longer than can be recorded.');
}

/** Where the first event of a complete stream has ended. */
export function secondEventOf(transcript: Transcript): Cursor {
  const { bytes } = transcript.read(BEGINNING);
  if (bytes === undefined) return BEGINNING;
  return { segment: 0, offset: Buffer.from(bytes).indexOf('\n\n') + 2 };
}
