// An account's usage over time, for the usage page.

import type {
  figuresRecord,
  groupRecord,
  pointsOf,
  seriesOf,
  UsageGrouping,
  UsageMeasure,
} from '../customer/usage-series.ts';

export type { UsageMeasure };

export type UsageFiguresRecord = ReturnType<typeof figuresRecord>;

export type UsagePointRecord = ReturnType<typeof pointsOf>[number];

/**
 * `group` is the models, a key id or an end user (empty for none); `name` is the display name; of a
 * model, the one that served. `requested` is the requested model if another one served.
 */
export type UsageGroupRecord = ReturnType<typeof groupRecord>;

/** `group` and `name` are null for the combined series of all other groups. */
type UsageSeriesRecord = Awaited<ReturnType<typeof seriesOf>>[number];

export type UsageRecord = {
  readonly object: 'usage';
  readonly group_by: UsageGrouping;
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
