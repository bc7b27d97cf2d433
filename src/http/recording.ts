// Records the answer of a request with an `Idempotency-Key` while its client gets it, and gives it
// again.

import { ClientStream } from '../generate/client-stream.ts';
import type { AnswerStream } from '../generate/pipeline-types.ts';
import { type Transcript, unpack } from '../idempotency/transcript.ts';

/** What precedes the body of an answer. */
export type RecordedHead = {
  readonly requestId: string;
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly isStream: boolean;
};

/** The answer of a first request: its head, and its packed transcript. */
export type Recorded = { readonly head: RecordedHead; readonly packed: Uint8Array };

type RecordingOptions = {
  readonly transcript: Transcript;
  /** Of the transcript. */
  readonly bytesMax: number;
  /** Called if the transcript is full: the answer ends, cut. */
  readonly onFull: () => void;
  /** Called when the answer is complete. Its client learns that afterwards. */
  readonly onComplete: () => Promise<void>;
};

/** The stream of a first request. It is recorded to its end, whether or not its client stays. */
export class RecordingStream implements AnswerStream {
  readonly #options: RecordingOptions;
  readonly #client = new ClientStream(() => {});
  readonly body = this.#client.body;
  #isFull = false;

  constructor(options: RecordingOptions) {
    this.#options = options;
  }

  write(data: string): Promise<void> | undefined {
    const { transcript, bytesMax, onFull } = this.#options;
    if (this.#isFull) return undefined;
    transcript.append(Buffer.from(data));
    if (transcript.size() <= bytesMax) return this.#client.write(data);
    this.#isFull = true;
    this.#client.cut('The answer is longer than can be recorded.');
    onFull();
    return undefined;
  }

  /** Whether the answer has no reader: the recording is one. */
  gone(): boolean {
    return this.#isFull;
  }

  leave(): void {
    this.#client.leave();
  }

  hurry(): void {
    this.#client.hurry();
  }

  close(last: string): void {
    this.write(last);
    this.#options.onComplete().finally(() => this.#client.close(''));
  }
}

/** The headers that belong to one response, and not to the answer. */
const OWN_HEADERS = /^(?:x-ratelimit-.*|connection|content-length|date)$/;

export function headOf(requestId: string, { status, headers }: Response): RecordedHead {
  const kept = [...headers].filter(([name]) => !OWN_HEADERS.test(name));
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  return { requestId, status, headers: kept, isStream };
}

/** The head as JSON, a line break, and the transcript. */
export function packAnswer(head: RecordedHead, transcript: Transcript): Uint8Array {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), transcript.pack()]);
}

/** The content was sealed, so it needs no checks. */
export function unpackAnswer(answer: Uint8Array): Recorded {
  const end = answer.indexOf(0x0a);
  const head = JSON.parse(Buffer.from(answer.subarray(0, end)).toString()) as RecordedHead;
  return { head, packed: answer.subarray(end + 1) };
}

/**
 * A stream of a recorded answer. `onEnd` is called when nothing more is read from it: the client has
 * it all, disconnected or stalled.
 */
export function replay(packed: Uint8Array, onEnd: () => void): ClientStream {
  const client = new ClientStream(onEnd);
  const pour = async (): Promise<void> => {
    for (const bytes of unpack(packed)) {
      if (client.gone()) return;
      await client.write(bytes);
    }
    client.close('');
    onEnd();
  };
  pour().catch(() => client.cut('The answer could not be read.'));
  return client;
}
