// GET /reference    ReferenceRecord: what the API docs page shows beside the account's limits.

export type ErrorCodeRecord = {
  readonly code: string;
  readonly status: number;
  /** `after`: after the seconds of `retry-after`. */
  readonly retry: 'never' | 'after' | 'backoff';
  /** In English, as the API answers. */
  readonly message: string;
};

export type ReferenceRecord = {
  readonly object: 'reference';
  readonly errors: readonly ErrorCodeRecord[];
};
