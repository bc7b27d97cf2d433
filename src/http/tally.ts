// Gathers what is told of one request, from its handler and from the pipeline, and tells it once: when
// it has been answered and, where it had a grant, settled. A stream is settled after its headers have
// left; everything else before.

import type { ClientFormatName } from '../core/admit.ts';
import type { ErrorCode } from '../core/error.ts';
import type { AnswerSummary, RequestSummary, RouteName } from '../core/request-summary.ts';
import type { RequestObserver } from '../generate/pipeline-types.ts';

export type Tally = {
  readonly identified: (who: { readonly accountId: string; readonly keyId: string }) => void;
  readonly observer: RequestObserver;
  /** Its answer is ready, `code` where it is a refusal. */
  readonly answered: (status: number, code?: ErrorCode) => void;
  /** Its headers are ready, and its answer follows. */
  readonly streaming: (status: number) => void;
};

export type Tallies = {
  readonly start: (request: {
    readonly requestId: string;
    readonly route: RouteName;
    readonly format: ClientFormatName;
  }) => Tally;
  /** Streams whose answer is still under way, or read to its end for nobody. */
  readonly openStreams: () => number;
};

export function createTallies(dependencies: {
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly tell: (summary: RequestSummary) => void;
}): Tallies {
  const { monotonic, tell } = dependencies;
  let openStreams = 0;

  function start(request: Parameters<Tallies['start']>[0]): Tally {
    const startedAt = monotonic();
    let who: { readonly accountId: string; readonly keyId: string } | undefined;
    let what: { readonly model: string; readonly stream: boolean } | undefined;
    let answer: AnswerSummary | undefined;
    /** Of a stream that has begun and is not settled. */
    let streamStatus: number | undefined;

    const finish = (status: number, code?: ErrorCode): void =>
      tell({
        ...request,
        status,
        ...(code === undefined ? {} : { code }),
        ...(who === undefined ? {} : { accountId: who.accountId, keyId: who.keyId }),
        ...what,
        durationMs: monotonic() - startedAt,
        ...(answer === undefined ? {} : { answer }),
      });

    return {
      identified(facts) {
        who = facts;
      },
      observer: {
        understood(facts) {
          what = facts;
        },
        ended(summary) {
          answer = summary;
          if (streamStatus === undefined) return;
          openStreams -= 1;
          finish(streamStatus);
        },
      },
      answered: finish,
      streaming(status) {
        if (answer !== undefined) return finish(status);
        streamStatus = status;
        openStreams += 1;
      },
    };
  }

  return { start, openStreams: () => openStreams };
}
