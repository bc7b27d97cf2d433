// The totals of the period, each with its course and its change since the period before.

import type { MoneyFiguresRecord, MoneyRecord } from '../../../records/operator-catalog.ts';
import { t } from '../../text/t.ts';
import { Amount } from '../../ui/amount.tsx';
import { formatCount } from '../../ui/format.ts';
import { Stat, Stats } from '../../ui/parts.tsx';
import { Change, Sparkline } from '../../ui/sparkline.tsx';

type Field = 'spent_usd' | 'cost_usd' | 'margin_usd' | 'loss_usd';

export function MoneyFigures({ record }: { readonly record: MoneyRecord }) {
  const { totals, balances } = record;
  const { requests, uncosted } = totals;
  const isCosted = uncosted < requests;
  return (
    <Stats>
      <Stat
        label={t('Spent')}
        {...shown(record, 'spent_usd')}
        hint={t('{requests, plural, one {# request} other {# requests}}', { requests })}
      />
      <Stat
        label={t('Upstream cost')}
        {...(isCosted ? shown(record, 'cost_usd') : { value: '–' })}
        hint={isCosted ? t('known costs') : t('No costs in the catalog')}
      />
      <Stat
        label={t('Margin')}
        {...(isCosted ? shown(record, 'margin_usd') : { value: '–' })}
        hint={
          isCosted &&
          (uncosted === 0
            ? t('all requests')
            : t('without {uncosted} requests of unknown cost', { uncosted: formatCount(uncosted) }))
        }
      />
      <Stat label={t('Loss')} {...shown(record, 'loss_usd')} hint={t('not covered by balances')} />
      <Stat
        label={t('Balances')}
        value={<Amount tokens={balances.posted} usd={balances.posted_usd} detail="hero" />}
        hint={t('of {accounts, plural, one {# account} other {# accounts}}', {
          accounts: balances.accounts,
        })}
      />
      <Stat
        label={t('Reserved now')}
        value={<Amount tokens={balances.held} usd={balances.held_usd} detail="hero" />}
        hint={t('in open holds')}
      />
    </Stats>
  );
}

function shown({ totals, before, series }: MoneyRecord, field: Field) {
  const read = (figures: MoneyFiguresRecord) => Number(figures[field]);
  return {
    value: <Amount usd={totals[field]} detail="hero" />,
    change: <Change now={read(totals)} before={read(before)} />,
    trend: <Sparkline values={series.map(read)} />,
  };
}
