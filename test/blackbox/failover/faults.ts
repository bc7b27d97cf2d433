// The rows of the failure matrix: each upstream fault, its failure class, and what a customer may
// see of it. The faults themselves are in test/support/faults.ts and test/support/dead-ports.ts.

import type { DeadPorts } from '../../support/dead-ports.ts';

/**
 * mistake   the caller's: returned as it is, without failover
 * early     before content: the next candidate is asked, and in the end it is 503
 * late      after content, where the client has asked for a stream; early where it has not
 */
export type Phase = 'mistake' | 'early' | 'late';

export type Row = {
  /** What the scripted upstream is asked for, or a door. */
  readonly name: string;
  readonly phase: Phase;
  /** The class that `explain` shows; several where the formats and dialects differ. */
  readonly classes: readonly string[];
  /** What the customer receives where no other upstream answers, if not `provider_unavailable`. */
  readonly code?: 'invalid_request' | 'context_length_exceeded' | 'payload_too_large';
  /** Nothing else than a timer ends it: such upstreams have short ones. */
  readonly stalls?: true;
  /** What it says before it fails is no text. */
  readonly saysNothing?: true;
  /** The only one in which there is such a fault. */
  readonly dialect?: 'chat';
  readonly door?: keyof DeadPorts['urls'];
  /** Where that is not what its class says: because of what `retry-after` says. */
  readonly triesAlone?: number;
  /** The same where another upstream could answer. */
  readonly triesBefore?: number;
  /** What the customer's own `retry-after` says where no other upstream could answer. */
  readonly retryAfter?: number;
};

type More = Omit<Row, 'name' | 'phase' | 'classes'>;

function rows(phase: Phase, classes: string, names: string, more: More = {}): Row[] {
  return names.split(' ').map((name) => ({ name, phase, classes: classes.split(' '), ...more }));
}

const stalls = { stalls: true } as const;

export const ROWS: readonly Row[] = [
  ...rows('mistake', 'bad_request', 'status-400 status-422', {
    code: 'invalid_request',
  }),
  ...rows('mistake', 'context_length', 'context-400', { code: 'context_length_exceeded' }),
  ...rows('early', 'too_large', 'status-413', { code: 'payload_too_large' }),

  ...rows('early', 'unreachable', 'closed-port', { door: 'closed' }),
  ...rows('early', 'unreachable', 'hangs-up', { door: 'hangsUp' }),
  ...rows('early', 'unreachable', 'resets', { door: 'resets' }),
  ...rows('early', 'timeout unreachable', 'silent-port', { door: 'silent', ...stalls }),
  ...rows('early', 'unreachable', 'plain-for-tls', { door: 'plainForTls' }),
  ...rows('early', 'unreachable timeout', 'unknown-host', { door: 'unknownHost', ...stalls }),

  ...rows('early', 'unreachable', 'cut-before reset-before'),
  ...rows('early', 'unreachable malformed', 'half-head malformed-head'),
  ...rows('early', 'timeout malformed unreachable', 'not-http', stalls),
  ...rows('early', 'timeout malformed unreachable', 'head-flood interim-flood', stalls),
  ...rows('early', 'timeout', 'stall-before stall-in-head', stalls),

  ...rows('early', 'credential', 'status-401 status-402 status-403', {
    retryAfter: 30,
  }),
  ...rows('early', 'timeout', 'status-408'),
  ...rows('early', 'rate_limited', 'status-429 retry-after-negative retry-after-text'),
  // With so many digits it is no number.
  ...rows('early', 'rate_limited', 'retry-after-absurd'),
  ...rows('early', 'rate_limited', 'retry-after-60 retry-after-date', {
    retryAfter: 60,
  }),
  ...rows('early', 'rate_limited', 'retry-after-1', { triesAlone: 2, triesBefore: 2 }),
  ...rows('early', 'overloaded', 'status-503 status-529 retry-after-1-of-503'),
  ...rows('early', 'overloaded', 'retry-after-60-of-503', { triesAlone: 1, retryAfter: 60 }),
  ...rows('early', 'server_error', 'status-409 status-425 status-500 status-501 status-502'),
  ...rows('early', 'server_error', 'status-504'),
  ...rows('early', 'mismatch', 'status-404 status-405 status-410 status-415'),
  ...rows('early', 'mismatch', 'redirect-301 redirect-302 redirect-307 redirect-308'),

  ...rows('early', 'server_error', 'html-500 error-in-200 bare-204'),
  ...rows('early', 'malformed cut server_error', 'html empty json-null half-json no-choices'),
  ...rows('early', 'malformed cut', 'deep-json false-gzip length-too-long length-too-short'),

  ...rows('early', 'timeout', 'stall-after-head', stalls),
  ...rows('early', 'timeout malformed cut', 'comments-only blank-lines role-chunks', stalls),
  ...rows('early', 'timeout', 'role-then-stall', stalls),
  ...rows('early', 'malformed cut timeout', 'wrong-chunk-size', stalls),
  ...rows('early', 'cut malformed', 'cut-after-head reset-after-head role-then-end done-only'),
  ...rows('early', 'cut malformed', 'half-character'),
  ...rows('early', 'server_error', 'error-first'),
  // The other dialect has no such reason.
  ...rows('early', 'overloaded', 'insufficient', { dialect: 'chat' }),
  ...rows('early', 'malformed cut', 'garbage-first oversized-line endless-event'),
  // Its first words come in the same read as its garbage, so nothing of it has left yet.
  ...rows('early', 'malformed', 'words-and-garbage'),

  ...rows('late', 'cut malformed', 'late-cut late-cut-connection late-reset'),
  ...rows('late', 'cut malformed', 'late-cut-of-reasoning late-cut-of-call', { saysNothing: true }),
  ...rows('late', 'timeout', 'late-stall late-comments late-trickle', stalls),
  ...rows('late', 'malformed', 'late-garbage late-oversized-line late-endless-event'),
  ...rows('late', 'server_error malformed', 'late-error'),
];
