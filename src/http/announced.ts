// The stream of a repeat whose first request runs on another node: headers and heartbeats until
// there is an answer, so that clients and proxies keep the connection.

import { every } from '../async/every.ts';
import type { GatewayError } from '../core/error.ts';
import { answerId } from '../generate/answer-head.ts';
import type { ClientStream } from '../generate/client-stream.ts';
import type { AnswerHead, ParsedBody, StreamEncoder } from '../wire/format.ts';
import { pour, type Recorded, serveReader } from './recording.ts';

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
  // The answer has its own beginning; only heartbeats and errors of this encoder are sent.
  encoder.start();
  return serveReader(signal, onEnd, async (client) => {
    const beat = (): void => void client.write(encoder.heartbeat());
    beat();
    const stopBeating = every(heartbeatMs, beat);
    try {
      const { transcript } = await answer.finally(stopBeating);
      await pour(transcript, client);
    } catch (error) {
      client.write(encoder.fail(errorOf(error), undefined));
    }
  });
}

/** Whether a body that was valid once asks for a stream. */
export function asksForStream({ value }: ParsedBody): boolean {
  return typeof value === 'object' && value !== null && 'stream' in value && value.stream === true;
}

/** For heartbeats: the id is that of the answer to come. */
export function headOfRepeat(
  requestId: string,
  startedAt: number,
  { value }: ParsedBody,
): AnswerHead {
  const model = typeof value === 'object' && value !== null && 'model' in value ? value.model : '';
  return {
    ...{ id: answerId(requestId), requestId, model: String(model) },
    createdSeconds: Math.floor(startedAt / 1_000),
    ...{ includeUsage: false, showReasoning: false },
  };
}
