// What an operator may do to an account on its page; each opens a dialog.

import type { StandingRecord } from '../../../records/operator-account.ts';

export type AccountAction =
  | 'money'
  | 'plan'
  | 'verify'
  | 'block'
  | 'unblock'
  | 'drop-factor'
  | StandingRecord;
