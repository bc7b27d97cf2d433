// What an account has used over time, as the page of usage reads it.

export type UsageFiguresRecord = {
  readonly requests: number;
  /** How they ended; together they are all requests. */
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
  /** What the balance could not pay, and nobody is asked for. */
  readonly waived: string;
};

export type UsagePointRecord = {
  /** The place of its bucket; buckets without a request have no point. */
  readonly bucket: number;
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly spent: string;
};

/** `group` is a model, a key's id or an end user (empty: none was named). */
export type UsageGroupRecord = {
  readonly group: string;
  /** What people call it. */
  readonly name: string;
  readonly figures: UsageFiguresRecord;
};

export type UsageSeriesRecord = {
  /** Null for all groups that have no series of their own, together. */
  readonly name: string | null;
  readonly points: readonly UsagePointRecord[];
};

export type UsageRecord = {
  readonly object: 'usage';
  readonly group_by: 'total' | 'model' | 'key' | 'end_user';
  readonly step: 'hour' | 'day';
  /** Where each bucket begins: an hour, or a day in UTC. */
  readonly buckets: readonly string[];
  /** Where the last bucket ends. */
  readonly to: string;
  readonly total: UsageFiguresRecord;
  /** Those who spent most, first. */
  readonly groups: readonly UsageGroupRecord[];
  /** How many groups are not in the list; they are in the total. */
  readonly groups_left_out: number;
  readonly series: readonly UsageSeriesRecord[];
  /** Later than the first bucket where there was too much for one answer; else null. */
  readonly counted_from: string | null;
  /** Requests of the past that are still being added up: 0 but shortly after an upgrade. */
  readonly behind: number;
};
