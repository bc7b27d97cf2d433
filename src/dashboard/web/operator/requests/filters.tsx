// The filters of the request log, kept in the page's address, and the search by id.

import { useLocation } from 'wouter-preact';
import type { UpstreamsRecord } from '../../../records/operator-server.ts';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField } from '../../ui/field.tsx';
import { useFilters } from '../../ui/filters.ts';
import {
  LinkedModels,
  OutcomeFilters,
  SentField,
  TimeField,
  withOwn,
} from '../../ui/request-filters.tsx';
import { useResource } from '../../ui/resource.ts';
import { TypedFilter, useFilter } from '../filters.tsx';

export const FILTERS = [
  ...(['outcome', 'status', 'code', 'model', 'upstream', 'account', 'key'] as const),
  ...(['served', 'requested'] as const),
  ...(['days', 'from', 'to'] as const),
];

const ID_LENGTH = 64;

export function LogFilters({ onClear }: { readonly onClear?: () => void }) {
  const [upstream, setUpstream] = useFilter('upstream');
  const [search, setFilters] = useFilters();
  const filters = Object.fromEntries(search);
  const { days = '', from = '', to = '', served = '', requested = '' } = filters;
  const { outcome = '', status = '', code = '' } = filters;
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
      <OutcomeFilters outcome={outcome} status={status} code={code} onChange={setFilters} />
      <TypedFilter
        name="model"
        label={t('Model')}
        placeholder={t('Requested or served')}
        maxLength={ID_LENGTH}
      />
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
      <TypedFilter
        name="account"
        label={t('Account')}
        placeholder={t('acct_… or none')}
        maxLength={ID_LENGTH}
      />
      <TypedFilter name="key" label={t('Key')} placeholder={t('key_…')} maxLength={ID_LENGTH} />
      {onClear && (
        <Button kind="quiet" onClick={onClear}>
          {t('Clear filters')}
        </Button>
      )}
    </div>
  );
}
