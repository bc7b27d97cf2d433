// What upstreams said of failed attempts, on its way to the operators' table.

import type { FailureClass } from './failure.ts';

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
