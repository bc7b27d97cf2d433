// Usage over time, as a chart and in figures: total, or by model, key or end user, of all requests
// or of some, compared with the period before.

import type {
  UsageFiguresRecord,
  UsageMeasure,
  UsagePointRecord,
  UsageRecord,
} from '../../../dashboard/records/customer-usage.ts';
import type { SpeedsRecord } from '../../../dashboard/records/speeds.ts';
import { requestsBetween } from '../../shared/requests/addresses.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Amount, OtherAmount } from '../../ui/amount.tsx';
import { apiUrl, withQuery } from '../../ui/api.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Chart } from '../../ui/chart.tsx';
import { pointName } from '../../ui/chart-data.ts';
import { ComboboxFilter, FilterBar, SentFilter } from '../../ui/filter-fields.tsx';
import { useFilters } from '../../ui/filters.ts';
import { formatCompact, formatCount, formatShare } from '../../ui/format.ts';
import { Alert, Card, Empty, Loaded, Page, Stat, Stats } from '../../ui/parts.tsx';
import { spanOf } from '../../ui/period.ts';
import { useResource } from '../../ui/resource.ts';
import { SpanPicker } from '../../ui/span.tsx';
import { Change, Sparkline } from '../../ui/sparkline.tsx';
import { SpeedsCard } from '../../ui/speeds-card.tsx';
import { Segments } from '../../ui/tabs.tsx';
import { chartOf, MEASURES, titleOf, type UsageFilter, valuesOf } from '../../ui/usage-chart.ts';
import { useRequestChoices } from '../requests/choices.ts';
import { GroupTable } from './groups.tsx';

const GROUPS = [
  { id: 'total', label: t('All') },
  { id: 'model', label: t('Model') },
  { id: 'key', label: t('Key') },
  { id: 'end_user', label: t('End user') },
] as const;

type GroupBy = (typeof GROUPS)[number]['id'];

export function View() {
  const [search, set] = useFilters();
  const span = spanOf(search);
  const groupBy = GROUPS.find(({ id }) => id === search.get('by'))?.id ?? 'model';
  const measure = MEASURES.find(({ id }) => id === search.get('show'))?.id ?? 'spent';
  const filter: UsageFilter = {
    model: search.get('model') ?? '',
    key: search.get('key') ?? '',
    end_user: search.get('end_user') ?? '',
  };
  const usage = useResource<UsageRecord>(
    withQuery('/usage', { ...span, ...filter, group_by: groupBy, measure }),
  );
  const shown = usage.data.value;
  return (
    <Page
      title={t('Usage')}
      lead={t('Usage and cost, in UTC.')}
      actions={
        shown && (
          <LinkButton
            download
            href={apiUrl(
              withQuery('/requests/export', {
                ...filter,
                outcome: 'ended',
                from: shown.from,
                to: shown.to,
              }),
            )}
          >
            {t('Export as CSV')}
          </LinkButton>
        )
      }
    >
      <SpanPicker span={span} shown={shown} onChange={set} />
      <UsageFilters filter={filter} onChange={set} />
      <Loaded resource={usage} lines={8}>
        {(data) => (
          <Shown
            usage={data}
            measure={measure}
            filter={filter}
            groupBy={groupBy}
            onMeasure={(show) => set({ show })}
            onGroup={(by) => set({ by })}
          />
        )}
      </Loaded>
    </Page>
  );
}

function Shown({
  usage,
  measure,
  filter,
  groupBy,
  onMeasure,
  onGroup,
}: {
  readonly usage: UsageRecord;
  readonly measure: UsageMeasure;
  readonly filter: UsageFilter;
  readonly groupBy: GroupBy;
  readonly onMeasure: (measure: UsageMeasure) => void;
  readonly onGroup: (groupBy: GroupBy) => void;
}) {
  if (usage.total.requests === 0) {
    return (
      <>
        <Incomplete usage={usage} />
        <Card>
          <Empty
            title={t('No requests in this period')}
            action={<LinkButton href="/playground">{t('Open playground')}</LinkButton>}
          >
            {t('Choose a longer period, or send a request in the playground or with your key.')}
          </Empty>
        </Card>
      </>
    );
  }
  return (
    <>
      <Incomplete usage={usage} />
      <UsageFigures usage={usage} />
      <Card
        title={titleOf(measure, usage.step)}
        actions={
          <>
            <Segments<GroupBy>
              label={t('Group by')}
              choices={GROUPS}
              active={groupBy}
              onChange={onGroup}
            />
            <Segments<UsageMeasure>
              label={t('Chart')}
              choices={MEASURES}
              active={measure}
              onChange={onMeasure}
            />
          </>
        }
      >
        <Chart key={`${groupBy} ${measure}`} {...chartOf(usage, measure, filter)} />
      </Card>
      {usage.group_by !== 'total' && <GroupTable usage={usage} filter={filter} />}
      <Speeds usage={usage} model={filter.model} />
    </>
  );
}

/** Of all keys and end users: speeds are counted by model. */
function Speeds({ usage, model }: { readonly usage: UsageRecord; readonly model: string }) {
  const { from, to } = usage;
  const speeds = useResource<SpeedsRecord>(withQuery('/usage/speeds', { from, to, model }));
  const requests = (start: string, end: string, failed: boolean) =>
    requestsBetween(start, end, { served: model, outcome: failed ? 'failed' : '' });
  return (
    <Loaded resource={speeds} lines={6}>
      {(data) => <SpeedsCard speeds={data} href={requests} />}
    </Loaded>
  );
}

/** Warns if the figures are incomplete. */
function Incomplete({ usage }: { readonly usage: UsageRecord }) {
  return (
    <>
      {usage.behind > 0 && (
        <Alert tone="warning" title={t('Usage is still being calculated')}>
          {t('The server was just updated. Figures will be complete in about 1 minute.')}
        </Alert>
      )}
      {usage.counted_from !== null && (
        <Alert tone="warning" title={t('Too many end users for this period')}>
          {rich('Figures start on {countedFrom}. Choose a shorter period.', {
            countedFrom: pointName(usage.counted_from, 'day'),
          })}
        </Alert>
      )}
    </>
  );
}

function UsageFigures({ usage }: { readonly usage: UsageRecord }) {
  const { total, before, series } = usage;
  const course = (read: (point: UsagePointRecord) => number) => {
    const all = series.map(({ points }) => valuesOf(usage, points, read));
    const sums = usage.buckets.map((_, index) =>
      all.reduce((sum, values) => sum + (values[index] ?? 0), 0),
    );
    return <Sparkline values={sums} />;
  };
  const change = (read: (figures: UsageFiguresRecord) => number) => (
    <Change now={read(total)} before={read(before.total)} />
  );
  return (
    <Stats>
      <Stat
        label={t('Spend')}
        value={<Amount tokens={total.spent} usd={total.spent_usd} />}
        change={change(({ spent }) => Number(spent))}
        hint={<OtherAmount tokens={total.spent} usd={total.spent_usd} />}
        trend={course(({ spent }) => Number(spent))}
      />
      <Stat
        label={t('Requests')}
        value={formatCount(total.requests)}
        change={change(({ requests }) => requests)}
        hint={t('{failed} failed', { failed: formatCount(total.failed) })}
        trend={course(({ requests }) => requests)}
      />
      <Stat
        label={t('Input tokens')}
        value={formatCompact(total.input_tokens)}
        change={change(({ input_tokens }) => input_tokens)}
        hint={t('{amount} cached', {
          amount: formatShare(total.cached_input_tokens, total.input_tokens),
        })}
        trend={course(({ input_tokens }) => input_tokens)}
      />
      <Stat
        label={t('Output tokens')}
        value={formatCompact(total.output_tokens)}
        change={change(({ output_tokens }) => output_tokens)}
        hint={t('{amount} reasoning', {
          amount: formatShare(total.reasoning_tokens, total.output_tokens),
        })}
        trend={course(({ output_tokens }) => output_tokens)}
      />
    </Stats>
  );
}

function UsageFilters({
  filter,
  onChange,
}: {
  readonly filter: UsageFilter;
  readonly onChange: (filter: Partial<UsageFilter>) => void;
}) {
  const { models, keys } = useRequestChoices();
  const isFiltered = Object.values(filter).some((value) => value !== '');
  const clear = () => onChange({ model: '', key: '', end_user: '' });
  return (
    <FilterBar clear={isFiltered ? clear : undefined}>
      <ComboboxFilter name="model" label={t('Model')} options={models} />
      <ComboboxFilter name="key" label={t('Key')} options={keys} />
      <SentFilter name="end_user" label={t('End user')} placeholder={t('Exactly as sent')} />
    </FilterBar>
  );
}
