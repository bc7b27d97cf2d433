// How fast answers were and how requests failed, for customers by model and for operators by
// upstream. Values are within 5 % of the exact ones; null without a measurement.

import type { speedsRecord } from '../speeds.ts';

export type SpeedsRecord = Awaited<ReturnType<typeof speedsRecord>>;

export type SpeedFiguresRecord = SpeedsRecord['total'];

export type SpeedPointRecord = SpeedsRecord['points'][number];
