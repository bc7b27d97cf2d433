// The attempts of a request: upstream, outcome and cost.

import type { OperatorRequestRecord } from '../../../records/operator-account.ts';
import {
  Badge,
  formatCount,
  humanize,
  formatMilliseconds as ms,
  Nothing,
  Table,
  Tokens,
} from '../../ui/index.ts';

type Attempt = OperatorRequestRecord['attempts'][number];

type Row = Attempt & { readonly number: number };

export function Attempts({ attempts }: { readonly attempts: readonly Attempt[] }) {
  const rows: readonly Row[] = attempts.map((each, index) => ({ ...each, number: index + 1 }));
  return (
    <Table
      caption="Attempts"
      rows={rows}
      rowKey={({ number }) => String(number)}
      columns={[
        { label: 'No.', show: ({ number }) => number },
        {
          label: 'Upstream',
          show: ({ upstream, model, upstream_model, credential }) => (
            <>
              <div>{upstream ?? 'Unknown upstream'}</div>
              <div class="soft small nowrap">
                {model ?? 'unknown model'}
                {upstream_model !== null && upstream_model !== model && ` as ${upstream_model}`}
                {credential !== null && `, credential ${credential}`}
              </div>
            </>
          ),
        },
        { label: 'Outcome', wrap: true, show: (attempt) => <Outcome attempt={attempt} /> },
        {
          label: 'First byte, content',
          end: true,
          show: ({ first_byte_ms: byte, first_content_ms: content }) =>
            byte === null ? <Nothing /> : `${ms(byte)}, ${content === null ? '–' : ms(content)}`,
        },
        {
          label: 'Duration',
          end: true,
          show: ({ duration_ms }) => (duration_ms === null ? <Nothing /> : ms(duration_ms)),
        },
        {
          label: 'Input, output',
          end: true,
          show: ({ usage }) =>
            usage === null ? (
              <Nothing />
            ) : (
              `${formatCount(usage.input_tokens)}, ${formatCount(usage.output_tokens)}`
            ),
        },
        { label: 'Cost', end: true, show: ({ cost }) => <Tokens amount={cost} /> },
      ]}
    />
  );
}

function Outcome({ attempt: { failure, phase, status, detail } }: { readonly attempt: Attempt }) {
  if (failure === null) return <Badge tone="good">Served</Badge>;
  const place = [phase && humanize(phase).toLowerCase(), status && `status ${status}`];
  return (
    <>
      <Badge tone={failure === 'no_capacity' ? 'warning' : 'danger'}>{humanize(failure)}</Badge>
      <div class="soft small">{[detail, ...place].filter(Boolean).join('; ')}</div>
    </>
  );
}
