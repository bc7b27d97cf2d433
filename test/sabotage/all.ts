// All faults, by what they are about, and those that cannot be planted with the reason. `S-` are the
// faults that gateways have really had, `T-` those that this design invites.

import type { Fault } from './fault.ts';
import { AUDITS } from './faults/audit.ts';
import { BOOKS } from './faults/books.ts';
import { CHARGES } from './faults/charges.ts';
import { CLUSTER_ANSWER_FAULTS } from './faults/cluster-answers.ts';
import { CLUSTER_LIMIT_FAULTS } from './faults/cluster-limits.ts';
import { CONFIDENCES } from './faults/confidences.ts';
import { KEYS } from './faults/keys.ts';
import { LIMIT_FAULTS } from './faults/limits.ts';
import { NODE_FAULTS } from './faults/nodes.ts';
import { OPERATOR_FAULTS } from './faults/operators.ts';
import { PEOPLE } from './faults/people.ts';
import { RECOVERY } from './faults/recovery.ts';
import { ROUTING } from './faults/routing.ts';
import { STREAMS } from './faults/streams.ts';
import { TIMERS } from './faults/timers.ts';

export const FAULTS: readonly Fault[] = [
  ...BOOKS,
  ...CHARGES,
  ...RECOVERY,
  ...LIMIT_FAULTS,
  ...CLUSTER_LIMIT_FAULTS,
  ...CLUSTER_ANSWER_FAULTS,
  ...NODE_FAULTS,
  ...KEYS,
  ...OPERATOR_FAULTS,
  ...PEOPLE,
  ...STREAMS,
  ...AUDITS,
  ...TIMERS,
  ...CONFIDENCES,
  ...ROUTING,
];
