// Detects changed files by polling. Polling suffices for what operators edit, and sees what
// notifications miss: a file that an editor replaced, a link with a new target, a network file
// system. It reads no content.

import { statSync } from 'node:fs';
import { errorCodeOf } from '../core/message-of.ts';

export type FileWatch = {
  /**
   * Whether the files differ from the settled state and have not changed since the previous look,
   * which skips a file that is still being written. Settles on the new state, so each change is
   * reported once.
   */
  readonly hasChanged: () => boolean;
  /** Settles on the files as they are; call it right before they are read. */
  readonly settle: () => void;
};

/** A path may not exist; appearing and disappearing count as changes, and so does another path. */
export function createFileWatch(paths: () => readonly string[]): FileWatch {
  let last = look(paths());
  let settled = last;
  return {
    hasChanged() {
      const now = look(paths());
      const rests = now === last;
      last = now;
      if (!rests || now === settled) return false;
      settled = now;
      return true;
    },
    settle() {
      last = look(paths());
      settled = last;
    },
  };
}

/** What identifies one state of the files; links are followed. */
function look(paths: readonly string[]): string {
  return paths.map(stateOf).join(' ');
}

function stateOf(path: string): string {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (stat === undefined) return 'missing';
    const { dev, ino, size, mtimeNs, ctimeNs } = stat;
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch (error) {
    return errorCodeOf(error) || 'unknown';
  }
}
