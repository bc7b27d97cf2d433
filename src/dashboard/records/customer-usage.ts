// An account's usage over time, for the usage page.

export type UsageFiguresRecord = {
  readonly requests: number;
  /** Requests by outcome; they add up to all requests. */
  readonly completed: number;
  readonly stopped: number;
  readonly cancelled: number;
  readonly failed: number;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  /** In service tokens. */
  readonly spent: string;
  readonly spent_usd: string;
  /** Not covered by the balance, and waived. */
  readonly waived: string;
};

export type UsagePointRecord = {
  /** The index of its bucket; buckets without requests have no point. */
  readonly bucket: number;
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly spent: string;
};

/** `group` is a model, a key id or an end user (empty for none). */
export type UsageGroupRecord = {
  readonly group: string;
  /** The display name. */
  readonly name: string;
  readonly figures: UsageFiguresRecord;
};

export type UsageSeriesRecord = {
  /** Null for the combined series of all other groups. */
  readonly name: string | null;
  readonly points: readonly UsagePointRecord[];
};

export type UsageRecord = {
  readonly object: 'usage';
  readonly group_by: 'total' | 'model' | 'key' | 'end_user';
  readonly step: 'hour' | 'day';
  /** The start of each bucket: an hour, or a UTC day. */
  readonly buckets: readonly string[];
  /** The end of the last bucket. */
  readonly to: string;
  readonly total: UsageFiguresRecord;
  /** Highest spend first. */
  readonly groups: readonly UsageGroupRecord[];
  /** The number of groups left out; the total includes them. */
  readonly groups_left_out: number;
  readonly series: readonly UsageSeriesRecord[];
  /** Later than the first bucket if the response would be too large; otherwise null. */
  readonly counted_from: string | null;
  /** Past requests not yet counted: nonzero only shortly after an upgrade. */
  readonly behind: number;
};
