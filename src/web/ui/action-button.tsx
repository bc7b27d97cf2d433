// A button whose action needs no dialog: it is busy until the action ends, and shows a failure as a
// toast.

import { Button, type ButtonProps } from './button.tsx';
import { useAction } from './resource.ts';
import { toast } from './toast.tsx';

export function ActionButton({
  act,
  ...button
}: Omit<ButtonProps, 'busy' | 'onClick' | 'type'> & { readonly act: () => Promise<unknown> }) {
  const action = useAction(act);
  const run = async () => {
    if (!(await action.run()) && action.error.value) toast(action.error.value.message);
  };
  return <Button {...button} busy={action.busy.value} onClick={() => void run()} />;
}
