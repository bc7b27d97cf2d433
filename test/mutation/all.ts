// All mutants by subject. `S-` are faults that gateways have really had, `T-` those that this
// design invites.

import { BOOK_MUTANTS } from './mutants/books.ts';
import { CHARGE_MUTANTS } from './mutants/charges.ts';
import { CLUSTER_MUTANTS } from './mutants/cluster.ts';
import { LIMIT_MUTANTS } from './mutants/limits.ts';
import { PROFILE_MUTANTS } from './mutants/profiles.ts';
import { RECOVERY_MUTANTS } from './mutants/recovery.ts';
import { REPEAT_MUTANTS } from './mutants/repeats.ts';
import { SECURITY_MUTANTS } from './mutants/security.ts';
import { STREAM_MUTANTS } from './mutants/streams.ts';

export const MUTANTS = [
  ...BOOK_MUTANTS,
  ...CHARGE_MUTANTS,
  ...RECOVERY_MUTANTS,
  ...LIMIT_MUTANTS,
  ...CLUSTER_MUTANTS,
  ...SECURITY_MUTANTS,
  ...STREAM_MUTANTS,
  ...PROFILE_MUTANTS,
  ...REPEAT_MUTANTS,
];
