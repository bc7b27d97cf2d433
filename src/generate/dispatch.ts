// Starts the attempts of one request. A stream sends checkpoints to the ledger from its first content
// on, so that a recovery knows what a dead gateway had delivered. A whole answer needs none: it is
// settled before it is delivered. Called by the route, through the pipeline.

import type { AttemptOptions } from '../upstream/attempt.ts';
import { type Permit, watchPermit } from '../upstream/permit.ts';
import { showsReasoning } from './check.ts';
import type { Cover } from './funded-output.ts';
import { type MeteredAttempt, meterAttempt } from './metered-attempt.ts';
import type { CheckedRequest, GenerateDependencies } from './pipeline-types.ts';

/**
 * `onAttempt` is told of each one, so that a client that leaves can stop it. The permit of an attempt
 * ends with it.
 */
export function createDispatch(
  dependencies: GenerateDependencies,
  checked: CheckedRequest,
  cover: Cover,
  onAttempt: (attempt: MeteredAttempt) => void,
): (options: AttemptOptions, permit: Permit) => MeteredAttempt {
  const { clock, monotonic, ledger, tokenizer, startAttempt, booking } = dependencies;
  const { requestId } = checked.call;
  return (options, permit) => {
    const { model, upstream, price } = options.candidate;
    const served = { model: model.slug, upstream: upstream.id, price };
    const started = startAttempt(options);
    const abort = (): void => {
      permit.end('given_up');
      started.abort();
    };
    const attempt = meterAttempt(
      { ...started, abort },
      {
        see: watchPermit(permit),
        cover,
        countNow: tokenizer.countNow,
        monotonic,
        delivery: checked.request.stream
          ? {
              showsReasoning: showsReasoning(checked),
              isAwaited: booking.kind === 'awaited',
              checkpoint: (progress, isAwaited) =>
                ledger.checkpoint({ requestId, served, ...progress, nowMs: clock(), isAwaited }),
            }
          : undefined,
      },
    );
    onAttempt(attempt);
    return attempt;
  };
}
