// The operator actions on an account; each opens a dialog.

import type {
  OperatorAccountRecord,
  StandingRecord,
} from '../../../dashboard/records/operator-account.ts';
import type { ChangeDialogProps } from '../../ui/collection.tsx';

export type AccountAction =
  | 'money'
  | 'plan'
  | 'verify'
  | 'block'
  | 'unblock'
  | 'drop-factor'
  | StandingRecord;

export type AccountDialogProps = ChangeDialogProps & { readonly account: OperatorAccountRecord };
