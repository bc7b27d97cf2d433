// `tollgate maintenance on|off|status`: while it is on, every request is refused with 503.

import type { Command } from 'commander';
import type { Maintenance } from '../core/service-state.ts';
import { addCommand, addGroup, OPERATOR, type Output, type Perform } from './command.ts';
import type { Context } from './context.ts';

type OnOptions = { readonly message?: string };

export function addMaintenanceCommands(program: Command, perform: Perform): void {
  const group = addGroup(program, 'maintenance', 'refuse all requests for a while');
  perform<OnOptions>(
    addCommand(group, 'on', 'refuse all requests with 503').option(
      '--message <text>',
      'the message to callers, on one line (default: a standard message)',
    ),
    (context, { message }) =>
      change(context, message === undefined ? { on: true } : { on: true, message }),
  );
  perform(addCommand(group, 'off', 'serve requests again'), (context) =>
    change(context, { on: false }),
  );
  perform(addCommand(group, 'status', 'show whether it is on'), statusOutput);
}

async function change(context: Context, maintenance: Maintenance): Promise<Output> {
  await (await context.openStore()).settings.setMaintenance(maintenance, OPERATOR);
  return statusOutput(context);
}

async function statusOutput(context: Context): Promise<Output> {
  const { on, message } = await (await context.openStore()).settings.maintenance();
  const words = message === undefined ? '' : ` Message to callers: ${message}`;
  return {
    json: { maintenance: on, message: message ?? null },
    text: `Maintenance is ${on ? 'on' : 'off'}.${words}`,
  };
}
