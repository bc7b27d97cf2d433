// Redeems a code for balance.

import { useState } from 'preact/hooks';
import type { RedeemedRecord } from '../../../records/customer-ledger.ts';
import { t } from '../../text/t.ts';
import { amountText } from '../../ui/amount-text.ts';
import { post } from '../../ui/api.ts';
import { Form, fieldError, TextField } from '../../ui/field.tsx';
import { Alert, Card } from '../../ui/parts.tsx';
import { useAction } from '../../ui/resource.ts';
import { isFrozen } from '../../ui/session.ts';

export function RedeemCard({ onRedeemed }: { readonly onRedeemed: () => unknown }) {
  const [code, setCode] = useState('');
  const [redeemed, setRedeemed] = useState<RedeemedRecord | undefined>(undefined);
  const action = useAction(async () => {
    setRedeemed(undefined);
    setRedeemed(await post<RedeemedRecord>('/redemption', { code }));
    setCode('');
    await onRedeemed();
  });
  if (isFrozen.value) {
    return (
      <Card title={t('Redeem a code')}>
        <p class="soft">{t('You can redeem codes once the account is active again.')}</p>
      </Card>
    );
  }
  return (
    <Card title={t('Redeem a code')}>
      <div class="stack">
        {redeemed && (
          <Alert
            tone="good"
            title={t('Code redeemed: {amount}', {
              amount: amountText({ tokens: redeemed.amount, usd: redeemed.amount_usd }),
            })}
          >
            {t('You have {available} available.', {
              available: amountText({ tokens: redeemed.available }, 'hero'),
            })}
          </Alert>
        )}
        <Form
          action={action}
          fields={['code']}
          submit={t('Redeem')}
          submitKind="plain"
          onSubmit={() => void action.run()}
        >
          <TextField
            label={t('Code')}
            hint={t("Capital letters and dashes don't matter.")}
            placeholder={t('TG-XXXX-XXXX-XXXX-XXXX')}
            required
            maxLength={100}
            spellcheck={false}
            value={code}
            onInput={setCode}
            error={fieldError(action, 'code')}
          />
        </Form>
      </div>
    </Card>
  );
}
