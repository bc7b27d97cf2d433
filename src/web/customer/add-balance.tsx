// The button that adds balance, and its dialog: the operator's checkout, if there is one, and the
// redemption of a code.

import { useState } from 'preact/hooks';
import type { RedeemedRecord } from '../../dashboard/records/customer-ledger.ts';
import { t } from '../text/t.ts';
import { amountText } from '../ui/amount-text.ts';
import { apiUrl, post } from '../ui/api.ts';
import { Button, type ButtonProps } from '../ui/button.tsx';
import { FormDialog } from '../ui/dialog.tsx';
import { fieldError, TextField } from '../ui/field.tsx';
import { useAction } from '../ui/resource.ts';
import { service } from '../ui/service.ts';
import { isFrozen } from '../ui/session.ts';
import { toast } from '../ui/toast.tsx';

/** `onAdded` reloads what the page shows. */
export function AddBalance({
  onAdded,
  ...look
}: Pick<ButtonProps, 'kind' | 'size'> & { readonly onAdded?: () => unknown }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button
        {...look}
        disabled={isFrozen.value}
        title={isFrozen.value ? t('You can add balance once the account is active again.') : ''}
        onClick={() => setIsOpen(true)}
      >
        {t('Add balance')}
      </Button>
      {isOpen && (
        <AddBalanceDialog
          onClose={() => setIsOpen(false)}
          onAdded={() => {
            setIsOpen(false);
            onAdded?.();
          }}
        />
      )}
    </>
  );
}

function AddBalanceDialog({
  onAdded,
  onClose,
}: {
  readonly onAdded: () => void;
  readonly onClose: () => void;
}) {
  const [code, setCode] = useState('');
  const action = useAction(async () => {
    const redeemed = await post<RedeemedRecord>('/redemption', { code });
    const amount = amountText({ tokens: redeemed.amount, usd: redeemed.amount_usd });
    const available = amountText({ tokens: redeemed.available }, 'figure');
    toast(t('{amount} added. {available} is available.', { amount, available }));
    onAdded();
  });
  return (
    <FormDialog
      title={t('Add balance')}
      action={action}
      fields={['code']}
      submit={t('Redeem code')}
      submitKind={service.top_up ? 'plain' : 'primary'}
      onClose={onClose}
    >
      {service.top_up ? (
        <div class="stack">
          <p>{t('Pay in a new tab. Your balance is updated here when the payment has arrived.')}</p>
          <div>
            <a class="button primary" href={apiUrl('/checkout')} target="_blank" rel="noopener">
              {t('Go to checkout')}
            </a>
          </div>
          <p>{t('Or redeem a code:')}</p>
        </div>
      ) : (
        <p>{t('Redeem a code that you got from the operator.')}</p>
      )}
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
    </FormDialog>
  );
}
