// The props of a field of an entry.

import type { EntryField, EntryRecord } from '../../../records/operator-entries.ts';
import type { FormValue } from './values.ts';

export type FieldProps = {
  readonly field: EntryField;
  readonly record: EntryRecord;
  /** The table that has the field. */
  readonly value: FormValue;
  readonly onValue: (value: FormValue) => void;
  /** The problem at a path within the entry. */
  readonly problemAt: (path: string) => string | undefined;
  /** The path of the table, such as `served_by[0].`. */
  readonly within?: string;
  /** The value that the server uses where there is none. */
  readonly fallback?: unknown;
  readonly readOnly: boolean;
};
