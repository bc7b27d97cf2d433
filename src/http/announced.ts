// The stream of a repeat whose first request runs on another node: headers, the first event and
// heartbeats until there is an answer, so that clients and proxies keep the connection.

import { every } from '../async/every.ts';
import type { GatewayError } from '../core/error.ts';
import { requestTimeMs } from '../core/id.ts';
import type { Model } from '../core/model.ts';
import { answerId } from '../generate/answer-head.ts';
import type { ClientStream } from '../generate/client-stream.ts';
import type { AnswerHead, ParsedBody, StreamEncoder } from '../wire/format.ts';
import { pour, type Recorded, secondEventOf, serveReader } from './recording.ts';

type Announced = {
  /** Of the format of the request. */
  readonly encoder: StreamEncoder;
  readonly heartbeatMs: number;
  readonly signal: AbortSignal;
  readonly onEnd: () => void;
  /** Rejects if there is none. */
  readonly answer: Promise<Recorded>;
  readonly errorOf: (error: unknown) => GatewayError;
};

export function announce(options: Announced): ClientStream {
  const { encoder, heartbeatMs, signal, onEnd, answer, errorOf } = options;
  return serveReader(signal, onEnd, async (client) => {
    // Some clients lose tool calls if the first chunk has no role. The recording begins with the
    // same event.
    client.write(encoder.start());
    const stopBeating = every(heartbeatMs, () => void client.write(encoder.heartbeat()));
    try {
      const { transcript } = await answer.finally(stopBeating);
      await pour(transcript, client, secondEventOf(transcript));
    } catch (error) {
      client.write(encoder.fail(errorOf(error), undefined));
    }
  });
}

/** Whether a body that was valid once asks for a stream. */
export function asksForStream({ value }: ParsedBody): boolean {
  return typeof value === 'object' && value !== null && 'stream' in value && value.stream === true;
}

/** The head of the answer to come, as far as it is known: the first event and heartbeats have it. */
export function headOfRepeat(
  requestId: string,
  startedAt: number,
  { value }: ParsedBody,
  { resolve }: { readonly resolve: (slugOrAlias: string) => Pick<Model, 'slug'> | undefined },
): AnswerHead {
  const named = typeof value === 'object' && value !== null && 'model' in value ? value.model : '';
  const model = resolve(String(named))?.slug ?? String(named);
  return {
    ...{ id: answerId(requestId), requestId, model },
    createdSeconds: Math.floor((requestTimeMs(requestId) ?? startedAt) / 1_000),
    ...{ includeUsage: false, showReasoning: false },
  };
}
