// Moves an answer from the upstream to the client: events in, the format's bytes out, one write a
// read, with pressure back to the upstream and a heartbeat in its silences. It decides nothing
// about money: it says how the stream ended, and the caller settles.

import { exhaustion, type UpstreamFailure } from '../core/failure.ts';
import type { GenerationEvent } from '../core/generation.ts';
import type { Attempt, Batch } from '../upstream/attempt.ts';
import type { StreamEncoder } from '../wire/format.ts';
import type { ClientStream } from './client-stream.ts';

export type Ending =
  | { readonly kind: 'completed' }
  | { readonly kind: 'client_cancelled' }
  | { readonly kind: 'upstream_failed'; readonly failure: UpstreamFailure };

export type PumpOptions = {
  readonly attempt: Attempt;
  /** The events that were read before the commit point; pending after a silent commit. */
  readonly first: Promise<Batch>;
  readonly encoder: StreamEncoder;
  readonly client: ClientStream;
  /** Told of every event before it goes to the client. */
  readonly onEvent: (event: GenerationEvent) => void;
  readonly heartbeatMs: number;
  readonly tellsExhaustion: boolean;
};

export async function pump(options: PumpOptions): Promise<Ending> {
  const { attempt, encoder, client, onEvent } = options;
  let wroteSinceTick = true;
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
      if (client.gone()) return { kind: 'client_cancelled' };
      // Content has gone out already, or the route would have taken this for a failed attempt.
      const exhausted = options.tellsExhaustion ? undefined : exhaustion(batch.events, false);
      if (exhausted !== undefined) return { kind: 'upstream_failed', failure: exhausted };
      if (batch.end === 'finished') return { kind: 'completed' };
      if (batch.end !== undefined) return { kind: 'upstream_failed', failure: batch.end };
      pending = attempt.next();
    }
  } finally {
    clearInterval(ticker);
    attempt.abort();
  }
}
