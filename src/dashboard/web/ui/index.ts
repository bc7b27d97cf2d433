// Everything that pages are built from. How to make a page:
//
// 1. Write `customer/keys/page.tsx` (or `operator/…`): one component, `View`, built from what is
//    below. Records come from `src/dashboard/records/` by `import type`; nothing else of the server may
//    be imported, and no other package. A list whose records are created and revoked is a `Collection`:
//
//      export function View() {
//        return (
//          <Collection<KeyRecord, CreatedKeyRecord> title="API keys" lead="…" path="/keys"
//            columns={[{ label: 'Name', show: (key) => key.name }]}
//            empty={{ title: 'No keys yet', text: 'Make one to call the API.' }}
//            actions={[REVOKE]}
//            create={{ label: 'New key', dialog: (dialog) => <CreateKeyDialog {...dialog} /> }}
//            shown={({ key }, onClose) => <ShownKeyDialog lines={[key]} onClose={onClose} />} />
//        );
//      }
//
//    A list that only shows is `<ListTable list={useList<Row>('/path')} …>` in a `<Card flush>`.
// 2. Give it a row in `customer/pages.tsx`. A page with a part in its path gets `PageProps`
//    (`params['id']`). Links are `Link` of wouter-preact with paths below the prefix (`/keys`).
// 3. One record: `const r = useResource<Record>('/path')` and `<Loaded resource={r}>{(data) => …}`.
//    A form: `const action = useAction(async () => { … })` and `<FormDialog action={action} …>`.
// 4. Amounts stay strings: `<Amount tokens={…} />`, `amountText`; counts `formatCount`; instants `Time`.
//    No inline style, no colour of its own, classes only of `css/`; `stack`, `row`, `grid` lay out.
// 5. `post`, `patch`, `put`, `remove` ask for the password by themselves where a route wants it.

export { ActionButton } from './action-button.tsx';
export { Amount, OtherAmount, Price } from './amount.tsx';
export {
  AmountField,
  EntryField,
  type EntryUnit,
  inUnit,
  preferredUnit,
  readAmount,
  UnitSelect,
  useAmountInput,
  written,
} from './amount-field.tsx';
export { amountText, formatUsd } from './amount-text.ts';
export { ApiError, apiUrl, get, patch, post, put, remove, request, withQuery } from './api.ts';
export { Button, CopyButton, LinkButton } from './button.tsx';
export { ChargeTable, chargeTotal } from './charge-table.tsx';
export { Chart } from './chart.tsx';
export { moneyChart } from './chart-money.ts';
export { ChosenNames } from './chosen-names.tsx';
export {
  type ChangeDialogProps,
  Collection,
  type DialogProps,
  type RowAction,
  useDialog,
} from './collection.tsx';
export { ComboboxField } from './combobox.tsx';
export { amountColumn, countColumn, stateColumn, timeColumn } from './common-columns.tsx';
export { ConfirmDialog, Dialog, DialogClose, FormDialog } from './dialog.tsx';
export {
  CheckField,
  Field,
  Form,
  fieldError,
  SelectField,
  type SelectOption,
  TextArea,
  TextField,
} from './field.tsx';
export { useFilters } from './filters.ts';
export {
  formatCompact,
  formatCount,
  formatInstant,
  formatMilliseconds,
  formatShare,
  formatSpan,
  formatTokens,
  groupDigits,
  roundDecimal,
  tokenCount,
  weekdays,
} from './format.ts';
export { formatUsdExact } from './format-money.ts';
export { holdItems } from './hold-items.tsx';
export { useKeptList, useOpenedFrom } from './kept-list.ts';
export {
  BOUNDS_FIELDS,
  BoundsFields,
  EditKeyDialog,
  KeyBounds,
  PauseKeyDialog,
  ResumeKeyDialog,
  useBounds,
} from './key-bounds.tsx';
export { labelOf } from './labels.ts';
export { type LiveState, useLatest, useLive } from './live.ts';
export { addAmounts, multiply, priceUnits, toUsd } from './money.ts';
export { Neighbours } from './neighbours.tsx';
export type { PageProps } from './page.ts';
export {
  Alert,
  Card,
  Empty,
  ErrorAlert,
  Facts,
  Lines,
  Loaded,
  Meter,
  Page,
  Stat,
  Stats,
} from './parts.tsx';
export { lastDays, lastMonths, spanOf } from './period.ts';
export { may } from './permission.ts';
export { ProblemAlert, ProblemCell, RefusedRequest, StatusCell } from './problem-view.tsx';
export { ServedModel, usedColumns } from './request-columns.tsx';
export {
  LinkedModels,
  OutcomeFilters,
  SentField,
  TimeField,
  timeQuery,
  withOwn,
} from './request-filters.tsx';
export { useAction, useList, useResource } from './resource.ts';
export { service } from './service.ts';
export { house, isFrozen, loadSession, session } from './session.ts';
export { SpanPicker } from './span.tsx';
export { Change, Sparkline } from './sparkline.tsx';
export { Speeds } from './speeds.tsx';
export { SpeedsCard } from './speeds-card.tsx';
export { type Column, ListTable, NoMatch, Table } from './table.tsx';
export { useSort } from './table-sort.ts';
export { CodeBlock, CodeTabs, Segments, Tabs } from './tabs.tsx';
export { Badge, Nothing, StateBadge, Time } from './text.tsx';
export { toast } from './toast.tsx';
export { expiryOf, FOR_GOOD, UntilField } from './until-field.tsx';
