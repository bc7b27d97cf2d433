// Starts the attempts of one request. Each is told to the ledger right before it is made, and what
// passes is told every now and then: a ledger that finds the hold without its gateway knows then what
// there may be to pay. No upstream waits for that, and no answer where this server is alone with its
// books; a node of a cluster passes nothing on before the attempt is booked, because others may have
// held it for dead and given the money back. Called by the route, through the pipeline.

import type { AttemptOptions } from '../upstream/attempt.ts';
import { type Permit, watchPermit } from '../upstream/permit.ts';
import type { Cover } from './funded-output.ts';
import { type MeteredAttempt, meterAttempt } from './metered-attempt.ts';
import type { CheckedRequest, GenerateDependencies } from './pipeline-types.ts';

/**
 * `onAttempt` is told of each one, so that a client that leaves can stop it. The permit of an attempt
 * ends with it.
 */
export function createDispatch(
  dependencies: GenerateDependencies,
  { call: { requestId } }: CheckedRequest,
  cover: Cover,
  onAttempt: (attempt: MeteredAttempt) => void,
): (options: AttemptOptions, permit: Permit) => MeteredAttempt {
  const { clock, monotonic, ledger, tokenizer, startAttempt, booking } = dependencies;
  const isAwaited = booking.kind === 'awaited';
  return (options, permit) => {
    const { model, upstream, price } = options.candidate;
    const served = { model: model.slug, upstream: upstream.id, price };
    const booked = ledger.dispatch({ requestId, served, nowMs: clock(), isAwaited });
    unwatched(booked);
    const started = startAttempt(options);
    const abort = (): void => {
      permit.end('given_up');
      started.abort();
    };
    const attempt = meterAttempt(
      { ...started, abort },
      {
        see: watchPermit(permit),
        ...(isAwaited ? { booked } : {}),
        cover,
        countNow: tokenizer.countNow,
        monotonic,
        checkpoint: (progress) =>
          unwatched(ledger.checkpoint({ requestId, ...progress, nowMs: clock() })),
      },
    );
    onAttempt(attempt);
    return attempt;
  };
}

/** Only a crash would need it, and the ledger logs its own failures: no answer waits for it. */
function unwatched(written: Promise<void>): void {
  written.catch(() => {});
}
