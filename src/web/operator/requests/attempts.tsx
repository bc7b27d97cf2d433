// The attempts of a request: upstream, outcome and cost.

import type { OperatorRequestRecord } from '../../../dashboard/records/operator-request.ts';
import { t } from '../../text/t.ts';
import { amountColumn } from '../../ui/common-columns.tsx';
import { formatCount, formatMilliseconds as ms } from '../../ui/format.ts';
import { formatUsdExact } from '../../ui/format-money.ts';
import { labelOf } from '../../ui/labels.ts';
import { Table } from '../../ui/table.tsx';
import { Badge, Nothing } from '../../ui/text.tsx';

type Attempt = OperatorRequestRecord['attempts'][number];

type Row = Attempt & { readonly number: number };

export function Attempts({ attempts }: { readonly attempts: readonly Attempt[] }) {
  const rows: readonly Row[] = attempts.map((each, index) => ({ ...each, number: index + 1 }));
  return (
    <Table
      caption={t('Attempts')}
      rows={rows}
      rowKey={({ number }) => String(number)}
      columns={[
        { label: t('No.'), show: ({ number }) => number },
        {
          label: t('Upstream'),
          show: ({ upstream, model, upstream_model, credential }) => (
            <>
              <div>{upstream ?? t('Unknown upstream')}</div>
              <div class="soft small nowrap">
                {model ?? t('unknown model')}
                {upstream_model !== null &&
                  upstream_model !== model &&
                  t(' as {upstreamModel}', { upstreamModel: upstream_model })}
                {credential !== null && t(', credential {credential}', { credential })}
              </div>
            </>
          ),
        },
        { label: t('Outcome'), wrap: true, show: (attempt) => <Outcome attempt={attempt} /> },
        {
          label: t('First byte, content'),
          end: true,
          show: ({ first_byte_ms: byte, first_content_ms: content }) =>
            byte === null ? <Nothing /> : `${ms(byte)}, ${content === null ? '–' : ms(content)}`,
        },
        {
          label: t('Duration'),
          end: true,
          show: ({ duration_ms: took, first_byte_ms: byte, first_content_ms: content }) =>
            // The clock of the books has milliseconds; the other times are more precise.
            took === null ? <Nothing /> : ms(Math.max(took, byte ?? 0, content ?? 0)),
        },
        {
          label: t('Input, output'),
          end: true,
          show: ({ usage }) =>
            usage === null ? (
              <Nothing />
            ) : (
              `${formatCount(usage.input_tokens)}, ${formatCount(usage.output_tokens)}`
            ),
        },
        amountColumn(t('Cost'), 'cost', { detail: 'exact' }),
        ...(attempts.some(({ reported_cost_usd: usd }) => usd !== undefined)
          ? [
              {
                label: t('Cost by its report'),
                end: true,
                show: ({ reported_cost_usd: usd }: Attempt) =>
                  usd === undefined ? <Nothing /> : formatUsdExact(usd),
              },
            ]
          : []),
      ]}
    />
  );
}

function Outcome({
  attempt: { failure, phase, status, detail, said },
}: {
  readonly attempt: Attempt;
}) {
  if (failure === null) return <Badge tone="good">{t('Served')}</Badge>;
  // The detail of most failures names the status already.
  const isNamed = status === null || detail?.includes(String(status)) === true;
  return (
    <>
      <Badge tone={failure === 'no_capacity' ? 'warning' : 'danger'}>{labelOf(failure)}</Badge>
      <div class="soft small">
        <span lang="en">{detail}</span>
        {!isNamed && `${detail ? '; ' : ''}${t('status {status}', { status })}`}
      </div>
      {said !== null && (
        <div class="small">
          {said.exact
            ? t('Upstream: {words}', { words: said.words })
            : t('Upstream at that time: {words}', { words: said.words })}
        </div>
      )}
      {phase !== null && <div class="soft small">{PHASES[phase] ?? labelOf(phase)}</div>}
    </>
  );
}

/** How far the attempt had come. */
const PHASES: Readonly<Record<string, string>> = {
  connect: t('while connecting'),
  first_byte: t('before the first byte'),
  first_content: t('before the first content'),
  stream: t('during the stream'),
  throughput: t('during the stream: too slow'),
  total: t('the attempt took too long'),
};
