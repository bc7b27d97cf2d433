// Usage over time, as a chart and in figures: total, or by model, key or end user.

import { useSearchParams } from 'wouter-preact';
import type { UsageRecord } from '../../../records/customer-usage.ts';
import {
  Alert,
  apiUrl,
  Card,
  Chart,
  Empty,
  formatCompact,
  formatCount,
  formatShare,
  formatTokens,
  formatUsdShort,
  LinkButton,
  Loaded,
  lastDays,
  Page,
  Segments,
  type Span,
  SpanPicker,
  Stat,
  Stats,
  Time,
  useResource,
  withQuery,
} from '../../ui/index.ts';
import { GroupTable } from './groups.tsx';
import { MEASURES, type Measure, seriesOf } from './measures.ts';

const GROUPS = [
  { id: 'total', label: 'All' },
  { id: 'model', label: 'Model' },
  { id: 'key', label: 'Key' },
  { id: 'end_user', label: 'End user' },
] as const;

type GroupBy = (typeof GROUPS)[number]['id'];

/** Spans up to this length are shown by hour. */
const HOURS_UP_TO_MS = 3 * 86_400_000;

const DEFAULT_DAYS = 30;

export function UsagePage() {
  const [search, setSearch] = useSearchParams();
  const from = search.get('from');
  const to = search.get('to');
  const span: Span = from !== null && to !== null ? { from, to } : lastDays(DEFAULT_DAYS);
  const groupBy = GROUPS.find(({ id }) => id === search.get('by'))?.id ?? 'model';
  const measure = MEASURES.find(({ id }) => id === search.get('show'))?.id ?? 'spent';
  const set = (more: Readonly<Record<string, string>>) =>
    setSearch((now) => ({ ...Object.fromEntries(now), ...more }), { replace: true });

  const isShort = Date.parse(span.to) - Date.parse(span.from) <= HOURS_UP_TO_MS;
  const usage = useResource<UsageRecord>(
    withQuery('/usage', { ...span, group_by: groupBy, step: isShort ? 'hour' : 'day' }),
  );
  return (
    <Page
      title="Usage"
      lead="Usage and cost by day (UTC)."
      actions={
        <LinkButton download href={apiUrl(withQuery('/requests/export', { ...span }))}>
          Export as CSV
        </LinkButton>
      }
    >
      <div class="row apart">
        <SpanPicker span={span} initial={from === null ? '30' : 'own'} onChange={set} />
        <Segments<GroupBy>
          label="Group by"
          choices={GROUPS}
          active={groupBy}
          onChange={(by) => set({ by })}
        />
      </div>
      <Loaded resource={usage} lines={8}>
        {(data) => (
          <Shown usage={data} span={span} measure={measure} onMeasure={(show) => set({ show })} />
        )}
      </Loaded>
    </Page>
  );
}

function Shown({
  usage,
  span,
  measure,
  onMeasure,
}: {
  readonly usage: UsageRecord;
  readonly span: Span;
  readonly measure: Measure;
  readonly onMeasure: (measure: Measure) => void;
}) {
  const { total } = usage;
  if (total.requests === 0) {
    return (
      <>
        <Incomplete usage={usage} />
        <Card>
          <Empty
            title="No requests in this period"
            action={<LinkButton href="/playground">Open playground</LinkButton>}
          >
            Choose a longer period, or send a request in the playground or with your key.
          </Empty>
        </Card>
      </>
    );
  }
  const { title, format } = MEASURES.find(({ id }) => id === measure) ?? MEASURES[0];
  return (
    <>
      <Incomplete usage={usage} />
      <Stats>
        <Stat
          label="Spent"
          value={formatTokens(total.spent, 0)}
          unit="tokens"
          hint={formatUsdShort(total.spent_usd)}
        />
        <Stat
          label="Requests"
          value={formatCount(total.requests)}
          hint={total.failed === 0 ? '0 failed' : `${formatCount(total.failed)} failed`}
        />
        <Stat
          label="Input tokens"
          value={formatCompact(total.input_tokens)}
          hint={`${formatShare(total.cached_input_tokens, total.input_tokens)} cached`}
        />
        <Stat
          label="Output tokens"
          value={formatCompact(total.output_tokens)}
          hint={`${formatShare(total.reasoning_tokens, total.output_tokens)} reasoning`}
        />
      </Stats>
      <Card
        title={usage.step === 'hour' ? `${title} by hour` : `${title} by day`}
        actions={
          <Segments<Measure>
            label="Chart"
            choices={MEASURES}
            active={measure}
            onChange={onMeasure}
          />
        }
      >
        <Chart
          title={title}
          times={usage.buckets}
          series={seriesOf(usage, measure)}
          kind="bars"
          step={usage.step}
          format={format}
        />
      </Card>
      {usage.group_by !== 'total' && <GroupTable usage={usage} span={span} />}
    </>
  );
}

/** Warns if the figures are incomplete. */
function Incomplete({ usage }: { readonly usage: UsageRecord }) {
  return (
    <>
      {usage.behind > 0 && (
        <Alert tone="warning" title="Usage is still being calculated">
          The server was just updated. Figures will be complete in about 1 minute.
        </Alert>
      )}
      {usage.counted_from !== null && (
        <Alert tone="warning" title="Too many end users for this period">
          Figures start on <Time at={usage.counted_from} detail="day" />. Choose a shorter period.
        </Alert>
      )}
    </>
  );
}
