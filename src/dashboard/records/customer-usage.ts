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
  readonly failed: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly spent: string;
  readonly spent_usd: string;
};

/** What the chart shows, by which groups are ordered. */
export type UsageMeasure = 'spent' | 'requests' | 'tokens' | 'failed';

/** `group` is the models, a key id or an end user (empty for none). */
export type UsageGroupRecord = {
  readonly group: string;
  /** The display name; of a model, the one that served. */
  readonly name: string;
  /** The requested model if another one served; otherwise null. */
  readonly requested: string | null;
  readonly figures: UsageFiguresRecord;
};

/** `group` and `name` are null for the combined series of all other groups. */
export type UsageSeriesRecord = {
  readonly group: string | null;
  readonly name: string | null;
  readonly requested: string | null;
  readonly points: readonly UsagePointRecord[];
};

export type UsageRecord = {
  readonly object: 'usage';
  readonly group_by: 'total' | 'model' | 'key' | 'end_user';
  readonly step: 'hour' | 'day' | 'month';
  /** The start of each bucket: an hour, a UTC day, or (part of) a UTC month. */
  readonly buckets: readonly string[];
  /** The start of the first bucket and the end of the last one; `total` covers exactly that. */
  readonly from: string;
  readonly to: string;
  readonly total: UsageFiguresRecord;
  /** Most of the measure first. */
  readonly groups: readonly UsageGroupRecord[];
  /** The number of groups left out; the total includes them. */
  readonly groups_left_out: number;
  readonly series: readonly UsageSeriesRecord[];
  /** The period before, until as much of it had passed; its buckets match by index. */
  readonly before: {
    readonly from: string;
    readonly to: string;
    readonly total: UsageFiguresRecord;
    readonly points: readonly UsagePointRecord[];
  };
  /** Later than the first bucket if the response would be too large; otherwise null. */
  readonly counted_from: string | null;
  /** Past requests not yet counted: nonzero only shortly after an upgrade. */
  readonly behind: number;
};
