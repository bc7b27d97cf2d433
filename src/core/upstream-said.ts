// What an upstream said of a failure, for operators only. The attempt removes what the caller wrote
// and what authenticates us before any other code sees it (`wire/upstream/hide-words.ts`).

import type { FailureClass } from './failure.ts';

/** Absent members: the upstream sent none. The status is in the failure. */
export type UpstreamSaid = {
  /** The error's code, or its type if it has no code. */
  readonly code?: string;
  /** The parameter of the request that the error names. */
  readonly param?: string;
  readonly message?: string;
};

/** The length of a stored message; that of a code and a parameter is shorter. */
export const SAID_LENGTH_MAX = 300;

/** One line: status, code, parameter and message. Empty if there is none of them. */
export function saidWords({ code, param, message }: UpstreamSaid = {}, status?: number): string {
  const head = [
    status === undefined ? '' : String(status),
    code ?? '',
    param === undefined ? '' : `(${param})`,
  ].filter((word) => word !== '');
  const words = head.join(' ');
  if (message === undefined) return words;
  return words === '' ? message : `${words}: ${message}`;
}

/** What an upstream said to one attempt of a request. */
export type HeardWords = {
  readonly upstream: string;
  /** The slug of the model. */
  readonly model: string;
  readonly failure: FailureClass;
  readonly status?: number | undefined;
  /** From `saidWords`. */
  readonly words: string;
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly at: number;
};

/** Equal words of a place. */
export type HeardGroup = {
  readonly id: string;
  /** The latest one. */
  readonly heard: HeardWords;
  readonly count: number;
  readonly firstAt: number;
  /** Of the latest requests, newest first. */
  readonly requests: readonly string[];
};

/** Requests that a group names; `explain` shows the words of others by place, status and time. */
export const HEARD_REQUESTS_MAX = 16;
