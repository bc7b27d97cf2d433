// Columns that many tables have.

import type { Column } from './table-column.ts';
import { StateBadge, Time, type Tone } from './text.tsx';

type TimeOptions = Pick<Column<never>, 'card' | 'sort'> &
  Pick<Parameters<typeof Time>[0], 'relative' | 'detail'>;

export function timeColumn<Field extends string>(
  label: string,
  field: Field,
  { relative, detail, ...column }: TimeOptions = {},
): Column<Readonly<Record<Field, string | null>>> {
  return {
    label,
    card: 'labelled',
    show: ({ [field]: at }) => <Time at={at} relative={relative} detail={detail} />,
    ...column,
  };
}

/** Set `tones` if the states do not imply them. */
export function stateColumn<Field extends string>(
  label: string,
  field: Field,
  tones: Readonly<Record<string, Tone>> = {},
): Column<Readonly<Record<Field, string>>> {
  return {
    label,
    card: 'state',
    show: ({ [field]: state }) => <StateBadge state={state} tone={tones[state]} />,
  };
}
