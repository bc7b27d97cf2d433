// Exports the ledger of a month, or all of it, as CSV.

import { useState } from 'preact/hooks';
import { locale, t } from '../../text/t.ts';
import { apiUrl, Card, LinkButton, SelectField, withQuery } from '../../ui/index.ts';

const MONTHS = 12;

export function ExportCard({ only }: { readonly only: string | undefined }) {
  const [month, setMonth] = useState('0');
  const months = lastMonths(new Date());
  const span = months.find(({ value }) => value === month);
  const href = apiUrl(withQuery('/ledger/export', { only, from: span?.from, to: span?.to }));
  return (
    <Card
      title={t('Export')}
      actions={
        <LinkButton size="small" download href={href}>
          {t('Export as CSV')}
        </LinkButton>
      }
    >
      <div class="stack">
        <p>
          {t(
            'Every entry with key, model, amount and balance. The amounts add up to your balance.',
          )}
        </p>
        <SelectField
          label={t('Period (UTC)')}
          value={month}
          options={[...months, { value: '', label: t('All entries') }]}
          onChange={setMonth}
        />
      </div>
    </Card>
  );
}

/** Whole UTC months, the present one first. */
function lastMonths(now: Date) {
  return Array.from({ length: MONTHS }, (_, ago) => {
    const monthAt = (offset: number) =>
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago + offset));
    const from = monthAt(0);
    return {
      value: String(ago),
      label: from.toLocaleString(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' }),
      from: from.toISOString(),
      to: monthAt(1).toISOString(),
    };
  });
}
