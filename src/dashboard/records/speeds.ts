// How fast answers were and how requests failed, for customers by model and for operators by
// upstream. Values are within 5 % of the exact ones; null without a measurement.

/** Milliseconds, and output tokens per second. */
export type SpeedFiguresRecord = {
  /** Requests of a customer; attempts at an upstream. */
  readonly requests: number;
  readonly failed: number;
  readonly first_token_ms_p50: number | null;
  readonly first_token_ms_p95: number | null;
  readonly duration_ms_p50: number | null;
  readonly duration_ms_p95: number | null;
  readonly tokens_per_second_p50: number | null;
};

export type SpeedPointRecord = SpeedFiguresRecord & {
  /** The index of its bucket; buckets without requests have no point. */
  readonly bucket: number;
  /** Failed attempts by class. */
  readonly failures: Readonly<Record<string, number>>;
};

export type SpeedsRecord = {
  readonly object: 'speeds';
  readonly step: 'hour' | 'day' | 'month';
  readonly buckets: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly total: SpeedFiguresRecord;
  readonly points: readonly SpeedPointRecord[];
  /** Most requests first. */
  readonly models: readonly (SpeedFiguresRecord & { readonly model: string })[];
};
