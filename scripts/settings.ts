// Generates `.env.example` and the table of the configuration page from src/config/settings.ts, and
// the table of roles from src/core/role.ts. Run with `bun run settings`; a test compares the result.

import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { VARIABLES } from '../src/config/settings.ts';
import { PERMISSIONS, ROLES, type Role } from '../src/core/role.ts';

const PAGE = 'src/docs/operators/configuration.md';
const CONSOLE = 'src/docs/operators/console.md';

/** Each document of the repository as it has to be, by its path. */
export function documents(): ReadonlyMap<string, string> {
  const example = read('.env.example');
  const page = read(PAGE);
  return new Map([
    ['.env.example', `${example.slice(0, example.indexOf('\n\n'))}\n\n${variables()}`],
    [PAGE, page.replace(/(?<=\n\| Variable \|.*\n\|---.*\n)(\|.*\n)+/, table)],
    [CONSOLE, read(CONSOLE).replace(/(?<=\n\| May \|.*\n\|---.*\n)(\|.*\n)+/, rights)],
  ]);
}

function variables(): string {
  return VARIABLES.map(
    ({ name, fallback = '', about }) => `# ${about}\n${name}=${fallback}\n`,
  ).join('\n');
}

function table(): string {
  return VARIABLES.map(({ name, fallback = '', about }) => {
    const value = fallback === '' ? '' : `\`${fallback}\``;
    return `| \`${name}\` | ${value} | ${about} |\n`;
  }).join('');
}

function rights(): string {
  return Object.values(PERMISSIONS)
    .map(({ allows, roles }) => {
      const given: readonly Role[] = roles;
      const cells = ROLES.map((role) => (given.includes(role) ? 'yes' : ''));
      return `| ${allows} | ${cells.join(' | ')} |\n`;
    })
    .join('');
}

export function read(path: string): string {
  return readFileSync(resolve(import.meta.dir, '..', path), 'utf8');
}

if (import.meta.main) {
  for (const [path, text] of documents()) writeFileSync(resolve(import.meta.dir, '..', path), text);
}
