// `tollgate maintenance on|off|status`: while it is on, every request is refused with 503.

import type { Command } from 'commander';
import { addCommand, addGroup, OPERATOR, type Output, type Perform } from './command.ts';
import type { Context } from './context.ts';

export function addMaintenanceCommands(program: Command, perform: Perform): void {
  const group = addGroup(program, 'maintenance', 'refuse all requests for a while');
  perform(addCommand(group, 'on', 'refuse all requests with 503'), (context) =>
    switchTo(context, true),
  );
  perform(addCommand(group, 'off', 'serve requests again'), (context) => switchTo(context, false));
  perform(addCommand(group, 'status', 'say whether it is on'), (context) =>
    statusOutput(context.openStore().settings.maintenance()),
  );
}

function switchTo(context: Context, on: boolean): Output {
  context.openStore().settings.setMaintenance(on, OPERATOR);
  return statusOutput(on);
}

function statusOutput(on: boolean): Output {
  return { json: { maintenance: on }, text: `Maintenance is ${on ? 'on' : 'off'}.` };
}
