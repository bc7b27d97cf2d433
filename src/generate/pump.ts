// Moves an answer from the upstream to the client: reads events and writes the format's bytes, one
// write per read, with backpressure to the upstream and heartbeats during silence. It makes no
// decision about money: it reports how the stream ended, and the caller settles.

import type { Awaitable } from '../async/awaitable.ts';
import { exhaustion, type UpstreamFailure } from '../core/failure.ts';
import type { GenerationEvent } from '../core/generation.ts';
import type { Attempt, Batch } from '../upstream/attempt.ts';
import type { StreamEncoder } from '../wire/format.ts';
import type { AnswerStream } from './pipeline-types.ts';

/**
 * How the pumping ended. With `over`, the attempt has ended too and there is nothing left to read.
 */
type Pumped =
  | { readonly kind: 'finished' }
  | { readonly kind: 'client_left'; readonly over: boolean }
  | { readonly kind: 'failed'; readonly failure: UpstreamFailure };

export type PumpOptions = {
  readonly attempt: Pick<Attempt, 'next' | 'abort'>;
  /** The events read before the commit point; pending after a silent commit. */
  readonly first: Awaitable<Batch>;
  readonly encoder: StreamEncoder;
  readonly client: AnswerStream;
  /** Receives every event before it is sent to the client. */
  readonly onEvent: (event: GenerationEvent) => void;
  readonly heartbeatMs: number;
  readonly tellsExhaustion: boolean;
};

export async function pump(options: PumpOptions): Promise<Pumped> {
  const { attempt, encoder, client, onEvent } = options;
  let wroteSinceTick = true;
  let left = false;
  const ticker = setInterval(() => {
    if (!wroteSinceTick) client.write(encoder.heartbeat());
    wroteSinceTick = false;
  }, options.heartbeatMs);

  try {
    let pending = options.first;
    client.write(encoder.start());
    for (;;) {
      const batch = await pending;
      let text = '';
      for (const event of batch.events) {
        onEvent(event);
        text += encoder.push(event);
      }
      if (text !== '') {
        wroteSinceTick = true;
        const room = client.write(text);
        if (room !== undefined) await room;
      }
      if (client.gone()) {
        left = true;
        return { kind: 'client_left', over: batch.end !== undefined };
      }
      // Content was already sent; otherwise the route would have treated this as a failed attempt.
      const exhausted = options.tellsExhaustion ? undefined : exhaustion(batch.events, false);
      if (exhausted !== undefined) return { kind: 'failed', failure: exhausted };
      if (batch.end === 'finished') return { kind: 'finished' };
      if (batch.end !== undefined) return { kind: 'failed', failure: batch.end };
      pending = attempt.next();
    }
  } finally {
    clearInterval(ticker);
    // After a disconnect, the lifetime decides whether the upstream is aborted or drained.
    if (!left) attempt.abort();
  }
}
