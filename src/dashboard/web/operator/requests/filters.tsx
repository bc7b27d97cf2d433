// The filters of the request log, kept in the page's address, and the search by id.

import { useLocation } from 'wouter-preact';
import type { UpstreamsRecord } from '../../../records/operator-server.ts';
import { t } from '../../text/t.ts';
import {
  Button,
  CODE_OPTIONS,
  ComboboxField,
  LinkedModels,
  OUTCOME_OPTIONS,
  SelectField,
  SentField,
  STATUS_OPTIONS,
  TextField,
  TimeField,
  useFilters,
  useResource,
  withOwn,
} from '../../ui/index.ts';
import { useFilter, useTypedFilter } from '../filters.ts';

export const FILTERS = [
  ...(['outcome', 'status', 'code', 'model', 'upstream', 'account', 'key'] as const),
  ...(['served', 'requested'] as const),
  ...(['days', 'from', 'to'] as const),
];

export function LogFilters({ onClear }: { readonly onClear?: () => void }) {
  const [outcome, setOutcome] = useFilter('outcome');
  const [status, setStatus] = useFilter('status');
  const [code, setCode] = useFilter('code');
  const [upstream, setUpstream] = useFilter('upstream');
  const [search, setFilters] = useFilters();
  const { days = '', from = '', to = '', served = '', requested = '' } = Object.fromEntries(search);
  const [, navigate] = useLocation();
  const upstreams = useResource<UpstreamsRecord>('/upstreams').data.value?.upstreams ?? [];
  return (
    <div class="filters">
      <SentField
        label={t('Request id')}
        placeholder={t('req_…')}
        value=""
        onSend={(id) => id !== '' && navigate(`/requests/${encodeURIComponent(id)}`)}
      />
      <TimeField time={{ days, from, to }} onChange={setFilters} />
      <SelectField
        label={t('Outcome')}
        value={outcome}
        options={OUTCOME_OPTIONS}
        onChange={setOutcome}
      />
      <SelectField
        label={t('Status')}
        value={status}
        options={withOwn(status, STATUS_OPTIONS)}
        onChange={setStatus}
      />
      <ComboboxField
        label={t('Error code')}
        value={code}
        options={withOwn(code, CODE_OPTIONS)}
        onChange={setCode}
      />
      <TypedFilter name="model" label={t('Model')} placeholder={t('Requested or served')} />
      <LinkedModels served={served} requested={requested} onChange={setFilters} />
      <SelectField
        label={t('Upstream')}
        value={upstream}
        options={withOwn(
          upstream,
          upstreams.map(({ id }) => ({ value: id, label: id })),
        )}
        onChange={setUpstream}
      />
      <TypedFilter name="account" label={t('Account')} placeholder={t('acct_… or none')} />
      <TypedFilter name="key" label={t('Key')} placeholder={t('key_…')} />
      {onClear && (
        <Button kind="quiet" onClick={onClear}>
          {t('Clear filters')}
        </Button>
      )}
    </div>
  );
}

function TypedFilter({
  name,
  label,
  placeholder,
}: {
  readonly name: string;
  readonly label: string;
  readonly placeholder: string;
}) {
  const { typed, setTyped } = useTypedFilter(name);
  return (
    <TextField
      type="search"
      label={label}
      placeholder={placeholder}
      maxLength={64}
      value={typed}
      onInput={setTyped}
    />
  );
}
