// Usage over time, as a chart and in figures: total, or by model, key or end user, of all requests
// or of some, compared with the period before.

import type { UsageMeasure, UsageRecord } from '../../../records/customer-usage.ts';
import type { SpeedsRecord } from '../../../records/speeds.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { apiUrl, withQuery } from '../../ui/api.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Chart } from '../../ui/chart.tsx';
import { pointName } from '../../ui/chart-data.ts';
import { useFilters } from '../../ui/filters.ts';
import { Alert, Card, Empty, Loaded, Page } from '../../ui/parts.tsx';
import { spanOf } from '../../ui/period.ts';
import { useResource } from '../../ui/resource.ts';
import { SpanPicker } from '../../ui/span.tsx';
import { SpeedsCard } from '../../ui/speeds-card.tsx';
import { Segments } from '../../ui/tabs.tsx';
import { chartOf, MEASURES, titleOf, type UsageFilter } from '../../ui/usage-chart.ts';
import { UsageFigures } from './figures.tsx';
import { UsageFilters } from './filters.tsx';
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
    withQuery('/requests', {
      ...{ served: model, from: start, to: end },
      ...(failed ? { outcome: 'failed' } : {}),
    });
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
