// The operator actions on an account; each opens a dialog.

import type { StandingRecord } from '../../../records/operator-account.ts';

export type AccountAction =
  | 'money'
  | 'plan'
  | 'verify'
  | 'block'
  | 'unblock'
  | 'drop-factor'
  | StandingRecord;
