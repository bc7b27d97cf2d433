// The full history of one request: attempts, usage, charge, cost and margin.

import type { CalculationRecord } from '../../../dashboard/records/customer-request.ts';
import type {
  OperatorRefusalRecord,
  OperatorRequestRecord,
} from '../../../dashboard/records/operator-request.ts';
import { ChargeTable, chargeTotal } from '../../shared/requests/charge-table.tsx';
import { RequestPage, type RequestViewProps } from '../../shared/requests/detail.tsx';
import { DebitedStat, holdItems, modelItems, outcomeItems } from '../../shared/requests/facts.tsx';
import { AccountLink, KeyLink } from '../../shared/requests/links.tsx';
import { ProblemAlert } from '../../shared/requests/problem-view.tsx';
import { RefusedView } from '../../shared/requests/refused.tsx';
import { t } from '../../text/t.ts';
import { Amount } from '../../ui/amount.tsx';
import { formatCount, tokenCount } from '../../ui/format.ts';
import { labelOf } from '../../ui/labels.ts';
import { Alert, Card, Empty, Facts, Stat, Stats } from '../../ui/parts.tsx';
import { Nothing, StateBadge, Time } from '../../ui/text.tsx';
import { Attempts } from './attempts.tsx';

export function View({ params, panel }: RequestViewProps) {
  return (
    <RequestPage<OperatorRequestRecord, OperatorRefusalRecord>
      id={params['id'] ?? ''}
      panel={panel}
      history={(history) => <RequestView history={history} />}
      refused={(refused) => <RefusedView audience="all" refused={refused} />}
    />
  );
}

function RequestView({ history }: { readonly history: OperatorRequestRecord }) {
  const { request, booked, problem, upstream_costs: costs } = history;
  return (
    <>
      {request === null && (
        <Alert title={t('In progress')}>
          {t('Nothing is charged yet. Reload this page later.')}
        </Alert>
      )}
      {problem !== null && (
        <ProblemAlert problem={problem}>
          <p>{t('Cause: {cause}', { cause: labelOf(problem.cause.split(':')[0] ?? '') })}</p>
        </ProblemAlert>
      )}
      {booked !== null && (
        <Stats>
          <DebitedStat label={t('Debited')} booked={booked} />
          <Stat
            label={t('Upstream cost')}
            value={costs === null ? '–' : <Amount tokens={costs.total} />}
            hint={costsHint(history)}
          />
          <Stat
            label={t('Margin')}
            value={costs?.margin == null ? '–' : <Amount tokens={costs.margin} />}
            hint={t('Charge minus cost')}
          />
          <Stat
            label={t('Loss')}
            value={<Amount tokens={booked.loss} />}
            hint={t('Not covered by the balance')}
          />
        </Stats>
      )}
      <div class="grid">
        <Card title={t('Request')}>
          <RequestFacts history={history} />
        </Card>
        <Card title={t('Hold')}>
          <HoldFacts history={history} />
        </Card>
      </div>
      <Card title={t('Attempts')} flush>
        {history.attempts.length === 0 ? (
          <Empty title={t('No attempts recorded')}>
            {t('Attempts are recorded when the request ends.')}
          </Empty>
        ) : (
          <Attempts attempts={history.attempts} />
        )}
      </Card>
      <Card title={t('Usage')}>
        <UsageFacts usage={history.usage} />
      </Card>
      {history.calculations.length > 0 && <Calculations calculations={history.calculations} />}
    </>
  );
}

function costsHint({ attempts, upstream_costs: costs }: OperatorRequestRecord): string {
  if (costs !== null) {
    return costs.complete ? t('All attempts') : t('Incomplete: a cost is missing in the catalog');
  }
  const isUsed = attempts.some(({ usage }) => usage !== null);
  return isUsed ? t('No costs in the catalog') : t('No tokens were used');
}

function RequestFacts({
  history: { account_id, account_email, key_id, key_name, model, request, receipt },
}: {
  readonly history: OperatorRequestRecord;
}) {
  return (
    <Facts
      items={[
        [t('Account'), <AccountLink key="account" id={account_id} email={account_email} />],
        [t('Key'), <KeyLink key="key" audience="all" id={key_id} name={key_name} />],
        ...modelItems(model),
        [t('Upstream'), request?.upstream ?? <Nothing />],
        ...outcomeItems('all', request),
        [t('End user'), request?.end_user ?? <Nothing />],
        [t('Started'), <Time key="start" at={request?.started_at ?? null} detail="second" />],
        [t('Ended'), <Time key="end" at={request?.ended_at ?? null} detail="second" />],
        [
          t('Receipt'),
          receipt === null ? (
            <Nothing />
          ) : (
            t('No. {sequence}', { sequence: formatCount(receipt.sequence) })
          ),
        ],
      ]}
    />
  );
}

function HoldFacts({ history: { hold, booked } }: { readonly history: OperatorRequestRecord }) {
  return (
    <Facts
      items={[
        [t('State'), <StateBadge key="phase" state={hold.phase} />],
        ...holdItems(hold),
        [t('Charged'), <Amount key="charged" tokens={booked?.charged ?? null} detail="exact" />],
        [
          t('Balance after'),
          <Amount key="after" tokens={booked?.balance_after ?? null} detail="exact" />,
        ],
        [t('Created'), <Time key="held" at={hold.created_at} detail="second" />],
        [
          t('Last checkpoint'),
          <Time key="seen" at={hold.checkpoint?.at ?? null} detail="second" />,
        ],
        [t('Ended'), <Time key="ended" at={hold.ended_at} detail="second" />],
      ]}
    />
  );
}

function UsageFacts({ usage }: { readonly usage: OperatorRequestRecord['usage'] }) {
  if (usage === null) return <p class="soft">{t('Counted when the request ends.')}</p>;
  return (
    <Facts
      items={[
        [t('Source'), usage.basis === null ? <Nothing key="basis" /> : BASES[usage.basis]],
        [t('Input'), tokenCount(usage.input_tokens)],
        [t('Cached'), tokenCount(usage.cached_input_tokens)],
        [t('Cache write'), tokenCount(usage.cache_write_tokens)],
        ...(usage.cached_explicit_tokens === undefined
          ? []
          : [[t('Explicitly cached input'), tokenCount(usage.cached_explicit_tokens)] as const]),
        ...(usage.cache_write_long_tokens === undefined
          ? []
          : [[t('Cache write, 1 hour'), tokenCount(usage.cache_write_long_tokens)] as const]),
        ...(usage.service_tier === undefined
          ? []
          : [[t('Service tier'), usage.service_tier] as const]),
        [t('Output'), tokenCount(usage.output_tokens)],
        [t('Reasoning'), tokenCount(usage.reasoning_tokens)],
        [
          t('Upstream report'),
          usage.reported === null ? (
            <Nothing key="none">{t('Nothing')}</Nothing>
          ) : (
            <code key="report">{JSON.stringify(usage.reported)}</code>
          ),
        ],
        [
          t('Doubt'),
          usage.doubt === null ? (
            <Nothing key="doubt" />
          ) : (
            `${labelOf(usage.doubt)}: ${DOUBTS[usage.doubt] ?? t('not charged')}`
          ),
        ],
      ]}
    />
  );
}

const BASES: Readonly<Record<string, string>> = {
  reported: t('Upstream'),
  estimated: t('Gateway'),
  recovered: t('Gateway, after a crash'),
};

/** How the charge treats such a report. */
const DOUBTS: Readonly<Record<string, string>> = {
  malformed: t('ignored: a count is missing or invalid'),
  inconsistent: t('ignored: the counts don’t add up to their total'),
  implausible: t(
    'exceeds what the model could read or write; the larger of the gateway’s count and the request’s bound is charged',
  ),
  zero: t('charged as reported, although tokens were expected'),
  service_tier: t('charged as the ordinary tier: the price has no factor for this one'),
};

function Calculations({ calculations }: { readonly calculations: readonly CalculationRecord[] }) {
  return (
    <>
      {calculations.map((each) => (
        <Card
          key={each.price_version}
          flush
          title={t('Charge at the price of {model}{usedFor}', {
            model: each.model,
            usedFor: calculations.length > 1 ? ROLES[each.used_for] : '',
          })}
        >
          <ChargeTable {...each} />
          <div class="table-foot">
            <span class="soft">
              {t('Price {priceVersion}', { priceVersion: each.price_version })}
            </span>
            <span>{chargeTotal(each)}</span>
          </div>
        </Card>
      ))}
      {calculations.length > 1 && (
        <p class="soft">{t('A fallback answered, so the lower charge applies.')}</p>
      )}
    </>
  );
}

const ROLES: Readonly<Record<CalculationRecord['used_for'], string>> = {
  requested: t(' (requested)'),
  served: t(' (served)'),
};
