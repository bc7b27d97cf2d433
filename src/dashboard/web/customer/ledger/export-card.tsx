// Exports the ledger of a month, or all of it, as CSV.

import { useState } from 'preact/hooks';
import { t } from '../../text/t.ts';
import { apiUrl, withQuery } from '../../ui/api.ts';
import { LinkButton } from '../../ui/button.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Card } from '../../ui/parts.tsx';
import { lastMonths } from '../../ui/period.ts';

const MONTHS = 12;

export function ExportCard({ only }: { readonly only: string | undefined }) {
  const months = lastMonths(MONTHS);
  const [month, setMonth] = useState(months[0]?.value ?? '');
  const at = months.findIndex(({ value }) => value === month);
  // A month ends where the one before it in the list begins; the present one has no end yet.
  const span = { from: startOf(months[at]?.value), to: startOf(months[at - 1]?.value) };
  const href = apiUrl(withQuery('/ledger/export', { only, ...span }));
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

function startOf(month: string | undefined): string | undefined {
  return month && `${month}-01T00:00:00.000Z`;
}
