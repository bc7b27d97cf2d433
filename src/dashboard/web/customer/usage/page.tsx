// What the account has used over time, as a chart and in figures: in all, or by model, key or end user.

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

/** A span up to this is shown hour by hour. */
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
      lead="What your requests used and what they cost. Days are UTC days; a request counts for when it started."
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
            title="No requests in this time"
            action={<LinkButton href="/playground">Open the playground</LinkButton>}
          >
            Choose a longer span, or make a first request: in the playground, or with a key of
            yours.
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
          hint={total.failed === 0 ? 'None failed' : `${formatCount(total.failed)} failed`}
        />
        <Stat
          label="Input tokens"
          value={formatCompact(total.input_tokens)}
          hint={`${formatShare(total.cached_input_tokens, total.input_tokens)} from the cache`}
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
            label="What is shown"
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

/** What the numbers leave out, where they leave out anything. */
function Incomplete({ usage }: { readonly usage: UsageRecord }) {
  return (
    <>
      {usage.behind > 0 && (
        <Alert tone="warning" title="Older requests are still being added up">
          The server was updated a moment ago. These figures will be whole in a minute.
        </Alert>
      )}
      {usage.counted_from !== null && (
        <Alert tone="warning" title="There are too many end users to show all of this time">
          The figures begin on <Time at={usage.counted_from} detail="day" />. Choose a shorter span.
        </Alert>
      )}
    </>
  );
}
